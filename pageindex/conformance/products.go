package conformance

import (
	"maps"
	"slices"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// testProducts checks that Products lists all products with comments, and after a build only these.
func testProducts(t *testing.T, h *history, p Place) {
	store, want := p.open(t), comments{}
	for range 4 {
		apply(t, store, want, h.next(40))
	}
	checkListed(t, store, want)
	var gone []pageindex.Entry
	for at, entry := range want {
		if at.product == products[0] && entry.Cell != nil {
			entry.Cell, entry.Follows = nil, h.follows()
			gone = append(gone, entry)
		}
	}
	apply(t, store, want, gone)
	checkListed(t, store, want)

	cell := comment.Cell{Language: "de", Rating: 5}
	built := comments{}
	for _, product := range []string{products[1], "of the build alone"} {
		built.apply([]pageindex.Entry{{Product: product, Position: comment.PositionAt(crowd, [10]byte{1}), Cell: &cell, Follows: h.follows()}})
	}
	Build(t, store, slices.Collect(maps.Values(built)), "built")
	if listed := checkListed(t, store, built); len(listed) != 2 {
		t.Errorf("after a build of two products, Products lists %q", listed)
	}
}

// checkListed checks that Products lists each product with comments, and returns the list.
func checkListed(t *testing.T, store pageindex.Store, want comments) []string {
	t.Helper()
	listed := map[string]bool{}
	must.Do(t, store.Products(t.Context(), func(product string) { listed[product] = true }))
	for at, entry := range want {
		if entry.Cell != nil && !listed[at.product] {
			t.Errorf("%q has comments, but Products lists %q", at.product, slices.Sorted(maps.Keys(listed)))
		}
	}
	return slices.Sorted(maps.Keys(listed))
}
