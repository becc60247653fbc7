package planbench

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/talkback/talkback/dynamo"
)

// Of each small product as many processes read a page, of a large one as many as it has pages. Each
// of them learns of one product what it plans the next by.
func TestProcessesAfterAnImport(t *testing.T) {
	products := append(Catalogue(60, 1), Generate(1001, 1))
	table, err := NewTable(t.Context(), slices.Concat(products...))
	if err != nil {
		t.Fatal(err)
	}
	var started atomic.Int64
	var summary Summary
	err = MeasureImported(t.Context(), products, func(context.Context) (*dynamo.Store, error) {
		started.Add(1)
		return table.Store(), nil
	}, &summary)
	if err != nil {
		t.Fatal(err)
	}
	large, err := NewProduct(t.Context(), products[len(products)-1])
	if err != nil {
		t.Fatal(err)
	}
	if want := len(large.visits(PageSize)); int(started.Load()) != want {
		t.Errorf("%d processes were started, want one for each of %d pages of the large product", started.Load(), want)
	}
	units := map[Way]float64{}
	for _, a := range summary.Averages() {
		if a.Group == (Group{Set: SetOf(products), Weight: Equal, Languages: anyLanguages, Most: 10}) {
			units[a.Way] = a.UnitsPerPage
			if a.Pages > 60*pagesOfSmall {
				t.Errorf("%d pages of small products, want at most %d of each", a.Pages, pagesOfSmall)
			}
		}
	}
	if got, best := units[Imported], units[Foresight]; got < best || got > 1.15*best {
		t.Errorf("a page of a small product costs %.2f units, and %.2f with foresight", got, best)
	}
}
