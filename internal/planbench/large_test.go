package planbench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// What is known of a large product before a page of it is read, by a process that was just started.
const (
	ofNothing   = iota // what other products are like, most of which are small
	ofHints            // besides, the hints that earlier processes saved
	ofCursor           // besides, in the place of hints, a hint in the cursor: see cursorHint
	ofCounts           // its counts
	ofHalfUnit         // a half unit of the whole product is read, and then what is cheapest by all that it is
	largeLevels = iota
)

// With what is saved of them, large products are planned well on any server, also in several
// languages. With -v it prints a table: units over foresight, and the share of pages in one wave.
func TestLargeProductsThatAreCold(t *testing.T) {
	priors, err := halfPriors(t.Context(), Catalogue(300, 2))
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		languages string
		page      int
	}
	sums, foresight := map[group]*[largeLevels]Cost{}, map[group]float64{}
	pages, oneWave := map[group]float64{}, map[group]*[largeLevels]float64{}
	for _, comments := range Catalogue(2000, 1)[:3] {
		p, err := NewProduct(t.Context(), comments)
		if err != nil {
			t.Fatal(err)
		}
		p.prior = priors[0]
		for n, filter := range p.filters() {
			if n%4 > 0 || len(filter.Ratings) == 1 {
				continue
			}
			for _, v := range p.walkOf(filter, PageSize) {
				g := group{Row{Filter: filter}.languagesOf(), v.page}
				if sums[g] == nil {
					sums[g], oneWave[g] = new([largeLevels]Cost), new([largeLevels]float64)
				}
				pages[g]++
				foresight[g] += p.foresee(v)
				for level, cost := range costsOfLarge(t, p, v) {
					sums[g][level].Units += cost.Units
					if sums[g][level].Waves = max(sums[g][level].Waves, cost.Waves); cost.Waves == 1 {
						oneWave[g][level]++
					}
				}
			}
		}
	}
	for _, languages := range []string{noLanguage, oneLanguage, severalLanguages} {
		for page := 1; page <= walkedPages; page++ {
			g := group{languages, page}
			var line strings.Builder
			for level, sum := range sums[g] {
				fmt.Fprintf(&line, " | %.2f, %.0f %%", sum.Units/foresight[g], 100*oneWave[g][level]/pages[g])
			}
			t.Logf("%s, page %d (%.0f)%s", languages, page, pages[g], &line)
			if hints := sums[g][ofHints]; hints.Units > 1.6*foresight[g] || hints.Units > sums[g][ofNothing].Units || hints.Waves > 2 {
				t.Errorf("languages %s, page %d: hints cost %.2f times foresight, %d waves at most", languages, page, hints.Units/foresight[g], hints.Waves)
			}
		}
	}
}

// costsOfLarge reads a page by each level of knowledge.
func costsOfLarge(t *testing.T, p *Product, v visit) (costs [largeLevels]Cost) {
	t.Helper()
	known := [...]planner.Known{
		ofNothing: p.likely(v.query.Filter), ofHints: p.hinted().likely(v.query.Filter), ofCursor: p.likely(v.query.Filter), ofCounts: p.known(),
	}
	if v.page > 1 {
		known[ofCursor].Hint = p.cursorHint(v.query.Filter)
	}
	for level, known := range known {
		_, cost, err := p.plan(t.Context(), p.table.Store(), v.query, known)
		if err != nil {
			t.Fatal(err)
		}
		costs[level] = cost
	}
	costs[ofHalfUnit] = p.afterHalfUnit(v)
	return costs
}

// cursorHint is what five bytes in a cursor may say, if the server that made it knew the counts: the
// number of comments within half an octave, and the shares of the ratings and of the languages of the
// list in fifteenths.
func (p *Product) cursorHint(filter comment.Filter) planner.Hint {
	total := float64(len(p.comments))
	fifteenths := func(n int) float64 { return math.Round(15*float64(n)/total) / 15 }
	hint := planner.Hint{Comments: math.Exp2(math.Round(2*math.Log2(total)) / 2)}
	for i, n := range p.stats.Counts(comment.Filter{}) {
		hint.Ratings[i] = fifteenths(n)
	}
	for i, language := range filter.Languages {
		hint.Languages[i] = fifteenths(p.stats[language].Total())
	}
	return hint
}

// afterHalfUnit is the least that a page costs if a half unit of the whole product is read first: no
// plan that begins so can do better.
func (p *Product) afterHalfUnit(v visit) Cost {
	from, to := v.window()
	all := p.ledger[layout.Partition{Index: layout.All}]
	end := from
	for end < to && all.price(from, end+1) <= 0.5 {
		end++
	}
	cost := Cost{Units: all.price(from, end), Waves: 1}
	if end == to {
		return cost
	}
	var cells []cellPrice
	for _, rating := range ratingsOf(v.query.Filter) {
		for _, language := range orAny(v.query.Filter.Languages) {
			if c, holds := p.ledger.cell(language, rating, end+1, to); holds {
				cells = append(cells, c)
			}
		}
	}
	return Cost{Units: cost.Units + cheapest(cells, v.query.Filter.Languages), Waves: 2}
}
