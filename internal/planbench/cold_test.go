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

// A process that was just started plans the first pages of a large product better with what earlier
// ones saved of it, and no later page worse.
func TestHintsSaveReads(t *testing.T) {
	p, err := NewProduct(t.Context(), Generate(1500, 1))
	if err != nil {
		t.Fatal(err)
	}
	var units [Hints + 1][walkedPages + 1]float64
	for _, walk := range []Walk{NoHints, Hints} {
		rows, err := MeasureWalk(t.Context(), p, PageSize, walk)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if page := row.Page; page == 1 || row.languagesOf() == severalLanguages {
				units[walk][page] += row.Costs[Cold].Units
			}
		}
	}
	for page, most := range []float64{0, 0.9, 1, 1} {
		with, without := units[Hints][page], units[NoHints][page]
		t.Logf("pages %d cost %.1f units with hints and %.1f without", page, with, without)
		if with > most*without {
			t.Errorf("pages %d cost %.1f units with hints and %.1f without", page, with, without)
		}
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
