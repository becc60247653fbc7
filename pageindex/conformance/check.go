package conformance

import (
	"slices"
	"testing"

	"github.com/talkback/talkback/pageindex"
)

// check looks up random lists of a product, and compares the answers.
func (h *history) check(t *testing.T, store pageindex.Index, want comments, product string, times int) {
	t.Helper()
	for range times {
		list := h.list(product)
		w := want.read(list)
		targets := h.targets(w)
		found, err := store.Find(t.Context(), list, targets)
		if err != nil {
			t.Fatalf("find in %+v: %v", list, err)
		}
		w.compareFound(t, list, targets, found)
	}
}

// checkAll is check for all products, and for one that has no comments.
func (h *history) checkAll(t *testing.T, store pageindex.Index, want comments, times int) {
	t.Helper()
	for _, product := range append(slices.Clone(products), "unknown") {
		h.check(t, store, want, product, times)
	}
}

// compareFound reports errors in an answer.
func (w whole) compareFound(t *testing.T, list pageindex.List, targets []pageindex.Target, found pageindex.Found) {
	t.Helper()
	if found.Counts != w.counts {
		t.Errorf("%+v: counts are %v, want %v", list, found.Counts, w.counts)
	}
	if len(found.Boundaries) != len(targets) {
		t.Fatalf("%+v: %d boundaries for %d targets", list, len(found.Boundaries), len(targets))
	}
	for i, target := range targets {
		if why := w.wrong(target, found.Boundaries[i]); why != "" {
			t.Errorf("%+v has %d comments; target %+v (at %v): boundary %+v: %s", list, len(w.positions), target, target.At, found.Boundaries[i], why)
		}
	}
}

// wrong describes what is wrong with a boundary, empty if nothing is.
func (w whole) wrong(target pageindex.Target, got pageindex.Boundary) string {
	rank := min(target.Rank, len(w.positions))
	exact := target.Exact || target.Rank >= len(w.positions)
	if target.At != nil {
		rank, exact = w.through(*target.At), true
	}
	before := 0
	if got.After != nil {
		before = w.through(*got.After)
	}
	switch {
	case before != got.Rank:
		return "other comments are before it than its rank says"
	case exact && got.Rank != rank:
		return "its rank is not the one asked for"
	case got.Rank > rank:
		return "it lies behind the target"
	case target.AtComment && rank == target.Rank && rank > 0 && *got.After != w.positions[rank-1]:
		return "no comment is at it"
	case target.At == nil && rank == 0 && got.After != nil:
		return "the beginning of the list has no position before it"
	}
	return ""
}
