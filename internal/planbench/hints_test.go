package planbench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/dynamo/prior"
)

// knowledge is what a Store may know of a product before its page is read.
type knowledge int

const (
	byDefault     knowledge = iota // nothing, and nothing of other products
	byPrior                        // what other products are like
	byLeaderboard                  // besides, how many comments of five stars it has
	byHint                         // besides, about how many it has of each rating
	byOldHint                      // the same, when it had a quarter of them
	byCounts                       // its counts
	levels
)

// wavePrice is what a further wave is priced at, in read units: docs/design/planning.md.
const wavePrice = 2

// Hints on products spare reads. Statistics that are read first cost more than they spare, at the
// price of a wave. With -v it prints the table.
func TestHintsSpareReads(t *testing.T) {
	products := Catalogue(700, 3)
	priors, err := halfPriors(t.Context(), products)
	if err != nil {
		t.Fatal(err)
	}
	var sums [len(sizeNames)][levels + 1]Cost // the last is foresight
	var pages [len(sizeNames)]float64
	for i, comments := range products {
		if len(comments) < 32 {
			continue
		}
		p, err := NewProduct(t.Context(), comments)
		if err != nil {
			t.Fatal(err)
		}
		size := bySize(len(comments))
		knownOf := knownsOf(p, priors[1-i%2])
		for number, v := range p.visits(PageSize) {
			if len(v.query.Filter.Ratings) < 2 || number%7 != 0 {
				continue
			}
			pages[size]++
			sum := &sums[size]
			sum[levels].Units += p.foresee(v)
			for way, known := range knownOf(v.query.Filter) {
				_, cost, err := p.plan(t.Context(), p.table.Store(), v.query, known)
				if err != nil {
					t.Fatal(err)
				}
				sum[way].Units += cost.Units
				sum[way].Waves += cost.Waves
			}
		}
	}
	for size, sum := range sums {
		n := pages[size]
		price := func(way knowledge) float64 { return sum[way].Units/n + wavePrice*(float64(sum[way].Waves)/n-1) }
		var line strings.Builder
		for way := range levels {
			fmt.Fprintf(&line, " | %.2f / %.2f / %.2f", sum[way].Units/sum[levels].Units, float64(sum[way].Waves)/n, price(way))
		}
		t.Logf("%s (%.0f pages)%s", sizeNames[size], n, &line)
		if !(price(byHint) < price(byPrior)) {
			t.Errorf("%s: hints make pages dearer", sizeNames[size])
		}
		if !(price(byPrior) < price(byCounts)+wavePrice) {
			t.Errorf("%s: a wave for the counts would pay", sizeNames[size])
		}
	}
}

var sizeNames = [...]string{"32-100", "101-255", "256-1,000", "above"}

func bySize(comments int) int {
	switch {
	case comments <= 100:
		return 0
	case comments < 256:
		return 1
	case comments <= 1000:
		return 2
	}
	return 3
}

// knownsOf returns what is known of a product for a list, by how much is known.
func knownsOf(p *Product, shop *planner.Prior) func(comment.Filter) [levels]planner.Known {
	saved := func(divided int) *prior.Learner {
		l, part := prior.NewLearner(), comment.Stats{}
		for language, counts := range p.stats {
			for i := range counts {
				counts[i] /= divided
			}
			part[language] = counts
		}
		l.Count(p.id, part)
		return l
	}
	led, counted, old := prior.NewLearner(), saved(1), saved(4)
	led.Lead(p.id, p.stats.Counts(comment.Filter{})[comment.MaxRating-1])
	return func(filter comment.Filter) [levels]planner.Known {
		return [levels]planner.Known{
			byDefault:     {},
			byPrior:       {Prior: shop},
			byLeaderboard: {Prior: shop, Hint: led.Hint(p.id, filter.Languages...)},
			byHint:        {Prior: shop, Hint: counted.Hint(p.id, filter.Languages...)},
			byOldHint:     {Prior: shop, Hint: old.Hint(p.id, filter.Languages...)},
			byCounts:      {Prior: shop, Stats: p.stats},
		}
	}
}
