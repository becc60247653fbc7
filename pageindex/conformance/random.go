package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// products have names that a store may confuse, and the longest one.
var products = []string{"p", "p/1", "m/p", "/m/p", "p 2:{x}\"\n☕", strings.Repeat("p/", comment.MaxIDBytes/2)}

// longest is a language with the longest tag.
const longest comment.Language = "en-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd"

// history generates entries of comments.
type history struct {
	r *rand.Rand
	// last is the number of the last record.
	last int
	// made are the latest entries of all comments, sent all returned entries.
	made, sent []pageindex.Entry
	// late are entries to return later.
	late []pageindex.Entry
}

// follows returns the position of the next record.
func (h *history) follows() stream.Position {
	h.last++
	return stream.PositionOf("2026-01-01", fmt.Sprint(h.last))
}

// crowd is the millisecond of most comments.
var crowd = commenttest.Epoch.Add(time.Minute)

// position returns the place of a new comment. Half of them share one millisecond; the others are
// in the few around it, or anywhere.
func (h *history) position() comment.Position {
	at := crowd
	switch h.r.IntN(8) {
	case 0, 1:
		at = crowd.Add(time.Duration(h.r.IntN(5)-2) * time.Millisecond)
	case 2, 3:
		at = commenttest.Epoch.Add(time.Duration(h.r.IntN(120_000)) * time.Millisecond)
	}
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(h.r.Uint32())
	}
	return comment.PositionAt(at, distinct)
}

// cell returns a random cell: some have many comments, others few.
func (h *history) cell() *comment.Cell {
	c := commenttest.Random(h.r, "")
	cell := c.Cell()
	if h.r.IntN(2) == 0 {
		cell.Traits = comment.Traits(h.r.IntN(comment.TraitSets))
	}
	if h.r.IntN(8) == 0 {
		cell.Language = longest
	}
	return &cell
}

// add returns the entry of a new comment.
func (h *history) add(product string) pageindex.Entry {
	entry := pageindex.Entry{Product: product, Position: h.position(), Cell: h.cell(), Follows: h.follows()}
	h.made = append(h.made, entry)
	return entry
}

// change returns a later entry of a comment: an edit, a deletion, or a return after that. Some
// entries come from reading the comment and not from a stream record.
func (h *history) change() pageindex.Entry {
	entry := &h.made[h.r.IntN(len(h.made))]
	if h.r.IntN(4) == 0 {
		entry.Follows += "~"
	} else {
		entry.Follows = h.follows()
	}
	entry.Cell = h.cell()
	if h.r.IntN(3) == 0 {
		entry.Cell = nil
	}
	return *entry
}

// next returns the next entries: new ones, changes, and repeated ones. Some are out of order, some
// are delayed until a later call.
func (h *history) next(n int) []pageindex.Entry {
	var out []pageindex.Entry
	for range n {
		var entry pageindex.Entry
		switch kind := h.r.IntN(10); {
		case kind < 4 || len(h.made) == 0:
			entry = h.add(products[h.r.IntN(len(products))])
		case kind < 8 || len(h.sent) == 0:
			entry = h.change()
		default:
			entry = h.sent[h.r.IntN(len(h.sent))]
		}
		if h.r.IntN(5) == 0 {
			h.late = append(h.late, entry)
			continue
		}
		out = append(out, entry)
	}
	for len(h.late) > n/2 {
		out = append(out, h.late[0])
		h.late = h.late[1:]
	}
	if h.r.IntN(2) == 0 {
		h.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	h.sent = append(h.sent, out...)
	return out
}

// many returns new comments of a product.
func (h *history) many(product string, n int) []pageindex.Entry {
	out := make([]pageindex.Entry, n)
	for i := range out {
		out[i] = h.add(product)
	}
	return out
}

// list returns a random list of a product.
func (h *history) list(product string) pageindex.List {
	languages := append(slices.Clone(commenttest.Languages), "none", longest)
	filter := comment.Filter{
		Languages:     someOf(h.r, languages),
		Ratings:       someOf(h.r, []int{1, 2, 3, 4, 5}),
		Verified:      h.truth(),
		WithMedia:     h.truth(),
		Helpful:       h.truth(),
		CreatedAfter:  h.date(),
		CreatedBefore: h.date(),
	}
	normal, err := filter.Normalize()
	if err != nil { // an empty range
		filter.CreatedBefore = nil
		normal, _ = filter.Normalize()
	}
	order := comment.NewestFirst
	if h.r.IntN(2) == 0 {
		order = comment.OldestFirst
	}
	return pageindex.List{Product: product, Filter: normal, Order: order}
}

// truth returns a random condition on a trait, mostly none.
func (h *history) truth() *bool {
	if h.r.IntN(3) > 0 {
		return nil
	}
	return new(h.r.IntN(2) == 0)
}

// someOf returns none or a few of some values.
func someOf[T any](r *rand.Rand, values []T) []T {
	if r.IntN(3) == 0 {
		return nil
	}
	values = slices.Clone(values)
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values[:1+r.IntN(min(3, len(values)))]
}

// date returns an end of a range, or none: at the crowd, near it, anywhere, or before all
// positions.
func (h *history) date() *time.Time {
	var at time.Time // which is before all positions
	switch h.r.IntN(8) {
	case 0, 1:
		at = crowd.Add(time.Duration(h.r.IntN(4)-1) * time.Millisecond)
	case 2, 3:
		at = commenttest.Epoch.Add(time.Duration(h.r.IntN(140_000)-10_000) * time.Millisecond)
	case 4:
	default:
		return nil
	}
	return &at
}

// targets returns targets that are hard to find in a list.
func (h *history) targets(w whole) []pageindex.Target {
	n := len(w.positions)
	var out []pageindex.Target
	for _, rank := range []int{0, 1, n / 2, n - 1, n, n + 1, n + 1_000_000, h.r.IntN(n + 1), h.r.IntN(n + 1)} {
		target := pageindex.Target{Rank: max(rank, 0), Exact: h.r.IntN(3) > 0}
		target.AtComment = target.Exact && h.r.IntN(2) == 0
		out = append(out, target)
	}
	at := []comment.Position{{}, comment.MaxPosition, comment.FirstAt(crowd), h.position()}
	if n > 0 {
		at = append(at, w.positions[0], w.positions[n-1], w.positions[h.r.IntN(n)].Next(), w.positions[h.r.IntN(n)].Previous())
	}
	for _, position := range at {
		out = append(out, pageindex.Target{At: &position, Rank: h.r.IntN(10)})
	}
	h.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:1+h.r.IntN(len(out))]
}
