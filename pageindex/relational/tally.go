package relational

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// record is the store's entry of a comment.
type record struct {
	cell    *comment.Cell // nil for a deleted comment
	follows stream.Position
}

// counter identifies a row of table blocks.
type counter struct {
	product string
	cell    comment.Cell
	block   int
}

// change is the amount by which a counter changes.
type change struct {
	counter
	n int
}

// tally computes the effect of entries; had has the stored record of each entry's comment, or nil.
// It accepts entries that are later by Follows, and returns the differences for the counters.
func tally(entries []pageindex.Entry, had []*record) (accepted []pageindex.Entry, changes []change) {
	sums := map[counter]int{}
	for i, e := range entries {
		old := had[i]
		if old != nil && old.follows >= e.Follows {
			continue
		}
		accepted = append(accepted, e)
		if e.Cell != nil {
			sums[counter{e.Product, *e.Cell, blockOf(e.Position)}]++
		}
		if old != nil && old.cell != nil {
			sums[counter{e.Product, *old.cell, blockOf(e.Position)}]--
		}
	}
	inOrder := func(a, b counter) int { // of the table's key
		return cmp.Or(cmp.Compare(a.product, b.product), a.cell.Compare(b.cell), cmp.Compare(a.block, b.block))
	}
	for _, c := range slices.SortedFunc(maps.Keys(sums), inOrder) {
		if sums[c] != 0 {
			changes = append(changes, change{c, sums[c]})
		}
	}
	return accepted, changes
}

// parseRecord parses a row's language, rating and follows, separated by slashes. No language
// contains one.
func parseRecord(text string) *record {
	language, rest, _ := strings.Cut(text, "/")
	rating, follows, _ := strings.Cut(rest, "/")
	r := &record{follows: stream.Position(follows)}
	code, _ := strconv.Atoi(rating)
	if cell, any := comment.CellOf(comment.Language(language), code); any {
		r.cell = &cell
	}
	return r
}
