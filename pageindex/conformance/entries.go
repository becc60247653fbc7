package conformance

import (
	"slices"
	"sync"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// testPages reads lists page by page, as an API would. The product is large, and most of its
// comments have the same millisecond.
func testPages(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	h.checkAll(t, store, want, 1)
	for chunk := range slices.Chunk(h.many(products[0], p.times(2500)), 250) {
		apply(t, store, want, chunk)
	}
	h.check(t, store, want, products[0], p.times(25))
	for _, order := range []comment.Order{comment.NewestFirst, comment.OldestFirst} {
		list := h.list(products[0])
		list.Order = order
		w := want.read(list)
		size := 1 + len(w.positions)/20 + h.r.IntN(10)
		var got []comment.Position
		for page := 0; page*size < len(w.positions); page++ {
			found := must.Get(store.Find(t.Context(), list, []pageindex.Target{{Rank: page * size}}))(t)
			from, rest := found.Boundaries[0], w.positions
			if from.After != nil {
				rest = rest[w.through(*from.After):]
			}
			rest = rest[min(page*size-from.Rank, len(rest)):] // comments between the boundary and the page
			got = append(got, rest[:min(size, len(rest))]...)
		}
		if !slices.Equal(got, w.positions) {
			t.Errorf("%+v: its pages of %d hold %d comments, the list %d; they differ",
				list, size, len(got), len(w.positions))
		}
	}
	h.checkAll(t, store, want, 1) // the other products are still empty
}

// testManyLanguages looks up lists of very many cells.
func testManyLanguages(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	languages := commenttest.ManyLanguages(60)
	entries := h.many(products[0], 600)
	for i := range entries {
		entries[i].Cell = &comment.Cell{Language: languages[i%len(languages)], Rating: 1 + i%comment.MaxRating}
	}
	apply(t, store, want, entries)
	h.check(t, store, want, products[0], 3)
	for _, filter := range []comment.Filter{{}, {Languages: languages}, {Languages: languages[7:40], Ratings: []int{2, 3}}} {
		list := pageindex.List{Product: products[0], Filter: filter, Order: comment.NewestFirst}
		w := want.read(list)
		targets := []pageindex.Target{{Rank: 1, Exact: true}, {Rank: 97, Exact: true}, {Rank: 430}}
		w.compareFound(t, list, targets, must.Get(store.Find(t.Context(), list, targets))(t))
	}
}

// testHistory looks up lists of all products repeatedly while comments are added, changed and
// deleted.
func testHistory(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	if err := store.Apply(t.Context(), nil); err != nil {
		t.Error(err)
	}
	unnumbered := pageindex.Entry{Product: products[0], Position: h.position(), Cell: h.cell()}
	looked := pageindex.Entry{Product: products[0], Position: h.position(), Cell: h.cell(), Follows: "~"}
	apply(t, store, want, []pageindex.Entry{unnumbered, looked})
	same := looked // which is not later
	same.Cell = nil
	apply(t, store, want, []pageindex.Entry{same})
	h.check(t, store, want, products[0], 3)
	for range p.times(15) {
		apply(t, store, want, h.next(1+h.r.IntN(60)))
		h.checkAll(t, store, want, 1)
	}
	// All entries come once more, the latest first.
	slices.Reverse(h.sent)
	apply(t, store, want, h.sent)
	h.checkAll(t, store, want, 2)
}

// testReopened closes the store and opens it again.
func testReopened(t *testing.T, h *history, p Place) {
	want := comments{}
	for i := range 3 {
		store := p.Open(t)
		h.checkAll(t, store, want, 1)
		if i == 1 {
			Build(t, store, h.made, "built")
			want = comments{}
			want.apply(h.made)
		}
		apply(t, store, want, h.next(50))
		must.Do(t, store.Close())
	}
	store := p.open(t)
	h.checkAll(t, store, want, 2)
	CheckCovers(t, store, "built")
	apply(t, store, want, h.sent) // repeated entries change nothing
	h.checkAll(t, store, want, 1)
}

// testGone deletes all comments of a product.
func testGone(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	apply(t, store, want, h.many(products[1], 40))
	here := slices.Clone(h.made)
	apply(t, store, want, h.many(products[0], 40))
	var gone []pageindex.Entry
	for _, entry := range h.made[40:] {
		entry.Cell, entry.Follows = nil, h.follows()
		gone = append(gone, entry)
	}
	apply(t, store, want, gone)
	checkNothingHeld(t, p, products[0])
	apply(t, store, want, h.made[40:]) // late
	checkNothingHeld(t, p, products[0])
	h.checkAll(t, store, want, 1)

	Build(t, store, gone, "without the other")
	checkNothingHeld(t, p, products[1])
	apply(t, store, want, here) // the build forgot them, so they are new
	h.checkAll(t, store, want, 1)
}

// testConcurrent applies the same entries from several goroutines, each in its own order.
func testConcurrent(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	stores := []pageindex.Store{store, p.second(t, store)}
	var batches [][]pageindex.Entry
	for range p.times(16) {
		batches = append(batches, h.next(25))
		want.apply(batches[len(batches)-1])
	}
	var all sync.WaitGroup
	for i := range 4 {
		h.r.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
		mine := slices.Clone(batches)
		all.Go(func() {
			for j, batch := range mine {
				if j%2 == 0 && i > 1 {
					continue // two goroutines apply all, the others half
				}
				if err := stores[i%2].Apply(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	h.checkAll(t, store, want, 2)
	h.checkAll(t, stores[1], want, 1)
}

// testOneState reads a list whose comments move from cell to cell. Their number and places stay the
// same, so an answer that mixes two states is detected.
func testOneState(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	other := p.second(t, store)
	apply(t, store, want, h.many(products[0], 100))
	list := pageindex.List{Product: products[0], Order: comment.NewestFirst}
	w := want.read(list)
	var batches [][]pageindex.Entry
	for range p.times(60) {
		var batch []pageindex.Entry
		for range 5 {
			entry := h.made[h.r.IntN(len(h.made))]
			entry.Cell, entry.Follows = h.cell(), h.follows()
			batch = append(batch, entry)
		}
		batches = append(batches, batch)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for _, batch := range batches {
			if err := other.Apply(t.Context(), batch); err != nil {
				t.Error(err)
			}
		}
	})
	for range p.times(40) {
		targets := h.targets(w)
		found, err := store.Find(t.Context(), list, targets)
		if comment.KindOf(err) == comment.Unavailable {
			continue // an error is better than a wrong answer
		}
		if err != nil {
			t.Fatal(err)
		}
		if found.Counts.Total() != w.counts.Total() {
			t.Errorf("the list has %d comments, but Find counts %d", w.counts.Total(), found.Counts.Total())
		}
		found.Counts = w.counts
		w.compareFound(t, list, targets, found)
	}
	writer.Wait()
}
