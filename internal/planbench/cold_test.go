package planbench

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// Of a product of a catalogue, most of which have a handful of comments, a page costs hardly more
// than if every comment were known, although nothing is known but what other products are like. It
// nearly always takes one wave.
func TestColdPagesOfACatalogue(t *testing.T) {
	products := Catalogue(150, 1)
	priors, err := halfPriors(t.Context(), products)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range coldAverages(t, products, func(i int) *planner.Prior { return priors[1-i%2] }) {
		if a.Weight == Equal {
			checkCold(t, a, 1.15, 0.95, 2)
		}
	}
}

// Large products cost more while nothing is known of them, since the first read goes for the small
// ones.
func TestColdPagesOfLargeProducts(t *testing.T) {
	var products [][]comment.Comment
	for seed := range uint64(3) {
		products = append(products, Generate(1500+700*int(seed), seed))
	}
	for _, a := range coldAverages(t, products, func(int) *planner.Prior { return nil }) {
		if a.Weight == Equal {
			checkCold(t, a, 1.85, 0.55, 2)
		}
	}
}

// A process that was just started plans the first pages of large products better with what earlier
// ones saved of them, and later pages no worse, also where it does not know all languages of a list.
func TestHintsSaveReads(t *testing.T) {
	var first, later [Hints + 1]float64
	for seed := range uint64(3) {
		p, err := NewProduct(t.Context(), Generate(1500, seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, walk := range []Walk{NoHints, Hints} {
			rows, err := MeasureWalk(t.Context(), p, PageSize, walk)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				switch {
				case row.Page == 1:
					first[walk] += row.Costs[Cold].Units
				case row.languagesOf() == severalLanguages:
					later[walk] += row.Costs[Cold].Units
				}
			}
		}
	}
	t.Logf("with hints and without: first pages %.1f and %.1f units, later ones of several languages %.1f and %.1f", first[Hints], first[NoHints], later[Hints], later[NoHints])
	if first[Hints] > 0.8*first[NoHints] || later[Hints] > later[NoHints] {
		t.Error("want at most 0.8 times, and no more")
	}
}

// coldAverages reads a part of the pages of products of which nothing is known but a prior.
func coldAverages(t *testing.T, products [][]comment.Comment, priorOf func(product int) *planner.Prior) []Average {
	t.Helper()
	var summary Summary
	for i, comments := range products {
		p, err := NewProduct(t.Context(), comments)
		if err != nil {
			t.Fatal(err)
		}
		p.prior = priorOf(i)
		var rows []Row
		for n, v := range p.visits(PageSize) {
			if (n+i)%4 > 0 {
				continue
			}
			row, err := p.measure(t.Context(), v, Cold)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 {
			summary.Add(SetOf(products), rows)
		}
	}
	return summary.Averages()
}

func checkCold(t *testing.T, a Average, mostOverForesight, leastOneWave float64, waves int) {
	t.Helper()
	if a.Way != Cold || a.Languages != anyLanguages || a.Most > 0 || a.Ratings == 0 {
		return
	}
	t.Logf("%s ratings: %.3f times foresight, one wave for %.1f %% of %d pages, %d at most",
		numberOrAny(a.Ratings), a.OverForesight, 100*a.OneWave, a.Pages, a.MostWaves)
	if a.OverForesight > mostOverForesight || a.OneWave < leastOneWave || a.MostWaves > waves {
		t.Errorf("%s ratings: want at most %.2f, one wave for %.0f %%, and %d waves", numberOrAny(a.Ratings), mostOverForesight, 100*leastOneWave, waves)
	}
}
