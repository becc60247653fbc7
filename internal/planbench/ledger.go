package planbench

import (
	"slices"
	"sort"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// ledger holds the cost of every stretch of every partition of a product.
type ledger map[layout.Partition]account

// account describes a partition: its comments as numbers of the product's comments, newest first,
// and the number of bytes before each.
type account struct {
	numbers []int
	before  []int // one more than numbers, the last is all
}

// newLedger returns the ledger of a product's comments, newest first, in a table.
func newLedger(table *Table, product string, comments []comment.Comment, stats comment.Stats) ledger {
	numbers := make(map[string]int, len(comments))
	for number, c := range comments {
		numbers[layout.SortKeyOf(c.ID.Position())] = number
	}
	l := ledger{}
	open := func(partition layout.Partition) {
		a, bytes := account{before: []int{0}}, 0
		for _, e := range slices.Backward(table.partition(partition, product)) { // ascending
			bytes += e.bytes
			a.numbers, a.before = append(a.numbers, numbers[e.sort]), append(a.before, bytes)
		}
		l[partition] = a
	}
	for language, counts := range stats {
		open(layout.Partition{Index: layout.ByLang, Language: language})
		for i := range counts.Counts {
			open(layout.Partition{Index: layout.ByLangAndRating, Language: language, Rating: i + 1})
		}
	}
	for rating := 1; rating <= comment.MaxRating; rating++ {
		open(layout.Partition{Index: layout.ByRating, Rating: rating})
	}
	open(layout.Partition{Index: layout.All})
	return l
}

// lastBetween returns the partition's last comment between two, both included, and false if there
// is none.
func (a account) lastBetween(from, to int) (number int, found bool) {
	i := sort.SearchInts(a.numbers, to+1) - 1
	if i < 0 || a.numbers[i] < from {
		return 0, false
	}
	return a.numbers[i], true
}

// price returns the cost of one call that scans the partition's comments between two, both
// included.
func (a account) price(from, to int) float64 {
	return units(a.before[sort.SearchInts(a.numbers, to+1)] - a.before[sort.SearchInts(a.numbers, from)])
}
