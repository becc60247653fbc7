package conformance

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// Build builds a store of some entries, which is then complete for covers.
func Build(t *testing.T, store pageindex.Store, entries []pageindex.Entry, covers string) {
	t.Helper()
	b := begin(t, store)
	add(t, b, entries)
	finish(t, b, covers)
}

func begin(t *testing.T, store pageindex.Store) pageindex.Build {
	t.Helper()
	return must.Get(store.Build(t.Context()))(t)
}

func add(t *testing.T, b pageindex.Build, entries []pageindex.Entry) {
	t.Helper()
	for chunk := range slices.Chunk(entries, 70) {
		must.Do(t, b.Add(t.Context(), chunk))
	}
}

func finish(t *testing.T, b pageindex.Build, covers string) {
	t.Helper()
	must.Do(t, b.Finish(t.Context(), covers))
}

// CheckCovers reports a store that is complete for something else.
func CheckCovers(t *testing.T, store pageindex.Store, want string) {
	t.Helper()
	if covers, err := store.Covers(t.Context()); err != nil || covers != want {
		t.Errorf("the store covers %q (%v), want %q", covers, err, want)
	}
}

// testBuild rebuilds a store whose old content is partly wrong.
func testBuild(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	CheckCovers(t, store, "")
	for range 5 {
		apply(t, store, want, h.next(60))
	}
	CheckCovers(t, store, "")
	// Comments that the store has missed, and comments that do not exist.
	missed := h.many(products[0], 30)
	Build(t, store, h.made, "first")
	want = comments{}
	want.apply(h.made)
	CheckCovers(t, store, "first")
	h.checkAll(t, store, want, 2)

	wrong := h.many(products[2], 30)
	apply(t, store, want, wrong)
	h.made = h.made[:len(h.made)-len(wrong)]
	markers := slices.Clone(h.made)
	b := begin(t, store)
	after := comments{}
	after.apply(markers)
	for chunk := range slices.Chunk(markers, 80) {
		add(t, b, chunk[:len(chunk)/2])
		for _, entries := range [][]pageindex.Entry{h.next(20), missed} {
			apply(t, store, want, entries)
			after.apply(entries)
		}
		add(t, b, chunk[len(chunk)/2:]) // for some comments, a later entry was applied already
		h.checkAll(t, store, want, 1)
		CheckCovers(t, store, "first")
	}
	finish(t, b, "second")
	CheckCovers(t, store, "second")
	h.checkAll(t, store, after, 2)
	apply(t, store, after, h.sent) // late entries restore nothing
	h.checkAll(t, store, after, 2)
}

// testBuildBesideAll builds a store while others apply entries to it and read it.
func testBuildBesideAll(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	other := p.second(t, store)
	// This one does not change, so it can be compared all the time.
	quiet := (&history{r: h.r}).many("quiet", 50)
	apply(t, store, want, quiet)
	apply(t, store, want, h.next(p.times(300)))
	markers := append(quiet, h.made...)
	var batches [][]pageindex.Entry
	for range p.times(20) {
		batches = append(batches, h.next(15))
	}
	want = comments{}
	want.apply(markers)
	for _, batch := range batches {
		want.apply(batch)
	}

	b := begin(t, store)
	var all sync.WaitGroup
	all.Go(func() {
		for chunk := range slices.Chunk(markers, 30) {
			if err := b.Add(t.Context(), chunk); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 2 {
		all.Go(func() {
			for j, batch := range batches {
				if j%2 != i {
					continue
				}
				if err := []pageindex.Store{store, other}[i].Apply(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 10 {
		h.check(t, other, want, "quiet", 1)
	}
	all.Wait()
	finish(t, b, "beside all")
	h.check(t, other, want, "quiet", 1)
	h.checkAll(t, other, want, 2)
	CheckCovers(t, other, "beside all")
}

// testReplaced looks up a list all the time, while builds replace the content by the same.
func testReplaced(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	other := p.second(t, store)
	all := h.many(products[0], 50)
	want.apply(all)
	Build(t, store, all, "first")
	list := pageindex.List{Product: products[0], Filter: comment.Filter{CreatedAfter: &crowd}, Order: comment.NewestFirst}
	w, built := want.read(list), make(chan struct{})
	targets := []pageindex.Target{{Rank: 9, Exact: true}, {At: new(comment.FirstAt(crowd.Add(time.Second)))}}
	var lookups sync.WaitGroup
	for range 2 {
		lookups.Go(func() {
			for ended := false; !ended; {
				select {
				case <-built:
					ended = true
				default:
				}
				found, err := other.Find(t.Context(), list, targets)
				switch {
				case err == nil:
					w.compareFound(t, list, targets, found)
				case comment.KindOf(err) != comment.Unavailable:
					t.Error(err)
				}
			}
		})
	}
	for range p.times(24) {
		Build(t, store, all, "again")
	}
	close(built)
	lookups.Wait()
}

// testRenew replaces the text that a store covers, which changes nothing else and ends no build.
func testRenew(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	renewer, outside := store.(pageindex.Renewer)
	if !outside {
		t.Skip("it is in the table")
	}
	first := h.many(products[0], 30)
	Build(t, store, first, "first")
	want.apply(first)
	if err := renewer.Renew(t.Context(), "another", "third"); comment.KindOf(err) != comment.Conflict {
		t.Errorf("Renew of a text that the store does not cover: %v, want a conflict", err)
	}
	CheckCovers(t, store, "first")
	b := begin(t, store)
	if err := renewer.Renew(t.Context(), "first", "second"); err != nil {
		t.Error(err)
	}
	CheckCovers(t, p.second(t, store), "second")
	apply(t, store, want, h.many(products[1], 20))
	h.checkAll(t, store, want, 1)
	add(t, b, first)
	finish(t, b, "third")
	CheckCovers(t, store, "third")
	h.checkAll(t, store, want, 1)
}

// testLaterBuild begins a build while another is under way.
func testLaterBuild(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	other := p.second(t, store)
	wrong := h.many(products[1], 20)
	first := begin(t, store)
	add(t, first, wrong)
	second := begin(t, other)
	right := h.many(products[0], 20)
	add(t, second, right)
	_ = first.Add(t.Context(), wrong) // it may fail
	if err := first.Finish(t.Context(), "first"); comment.KindOf(err) != comment.Conflict {
		t.Errorf("the end of a build that was overtaken: %v, want a conflict", err)
	}
	CheckCovers(t, store, "")
	finish(t, second, "second")
	want.apply(right)
	h.checkAll(t, store, want, 2)
	CheckCovers(t, store, "second")
	if err := first.Finish(t.Context(), "first"); comment.KindOf(err) != comment.Conflict {
		t.Errorf("the end of a build that was overtaken by a finished one: %v, want a conflict", err)
	}
	h.checkAll(t, store, want, 1)
	checkNothingHeld(t, p, products[1])
}

// testUnfinishedBuild leaves a build unfinished, as a killed process does.
func testUnfinishedBuild(t *testing.T, h *history, p Place) {
	want := comments{}
	store := p.Open(t)
	right, wrong := h.many(products[0], 20), h.many(products[1], 20)
	Build(t, store, right, "complete")
	want.apply(right)
	add(t, begin(t, store), wrong)
	must.Do(t, store.Close())
	store = p.open(t)
	apply(t, store, want, h.many(products[2], 20))
	h.checkAll(t, store, want, 1)
	CheckCovers(t, store, "complete")
	Build(t, store, h.made[len(right)+len(wrong):], "again")
	want = comments{}
	want.apply(h.made[len(right)+len(wrong):])
	h.checkAll(t, store, want, 1)
	checkNothingHeld(t, p, products[0])
	checkNothingHeld(t, p, products[1])
}
