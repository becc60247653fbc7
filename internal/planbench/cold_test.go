package planbench

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Most products of a catalogue have a handful of comments. A page of one costs hardly more without
// statistics than if every comment were known, and nearly always takes one wave.
func TestColdPagesOfACatalogue(t *testing.T) {
	for _, a := range coldAverages(t, Catalogue(150, 1)) {
		checkCold(t, a, 1.15, 0.97, 3) // a few lists of languages take three waves
	}
}

// Large products cost more while they are cold, since the first read is planned for small ones.
func TestColdPagesOfLargeProducts(t *testing.T) {
	var products [][]comment.Comment
	for seed := range uint64(3) {
		products = append(products, Generate(1500+700*int(seed), seed))
	}
	for _, a := range coldAverages(t, products) {
		checkCold(t, a, 1.85, 0.55, 2)
	}
}

// coldAverages reads some pages of products without statistics.
func coldAverages(t *testing.T, products [][]comment.Comment) []Average {
	t.Helper()
	var summary Summary
	for i, comments := range products {
		p := must.Get(NewProduct(comments))(t)
		var rows []Row
		for n, v := range p.visits(PageSize) {
			if (n+i)%4 > 0 {
				continue
			}
			rows = append(rows, must.Get(p.measure(t.Context(), v, Cold))(t))
		}
		if len(rows) > 0 {
			summary.Add(SetOf(products), rows)
		}
	}
	return summary.Averages()
}

func checkCold(t *testing.T, a Average, mostOverForesight, leastOneWave float64, waves int) {
	t.Helper()
	if a.Way != Cold || a.Weight != Equal || a.Languages != anyLanguages || a.Most > 0 || a.Ratings == 0 {
		return
	}
	t.Logf("%s ratings: %.3f times foresight, one wave for %.1f %% of %d pages, %d at most",
		numberOrAny(a.Ratings), a.OverForesight, 100*a.OneWave, a.Pages, a.MostWaves)
	if a.OverForesight > mostOverForesight || a.OneWave < leastOneWave || a.MostWaves > waves {
		t.Errorf("%s ratings: want at most %.2f, one wave for %.0f %%, and %d waves", numberOrAny(a.Ratings), mostOverForesight, 100*leastOneWave, waves)
	}
}
