package planbench

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// assumedSizes are the numbers of comments that first waves are planned for, to find the best of
// them: from half a unit of the whole product to a read of each rating.
var assumedSizes = [...]float64{4, 8, 16, 32, 64, 128, 256, 1000, 4000}

// mostOverall is how much a page of any product of a catalogue may cost, over foresight.
const mostOverall = 1.15

// What a second wave may know, beside what is likely.
const (
	thenSample = iota // what the first wave showed
	thenCounts        // the counts of the product
	thenLevels
)

// What may be known of a large product before its page is read.
const (
	knowNothing = iota
	knowSize    // how many comments it has
	knowHint    // besides, about how ratings and languages mix
	knowCounts
	knowLevels
)

// A plan that does not know whether the product is large cannot be good for large products and for
// small ones, whatever its first wave shows. The benchmark tells by number of ratings what pages of
// large products cost, in units over foresight: at least, if the second wave knows what the first
// showed or knows all counts, and by what may be known beforehand.
func BenchmarkNothingKnown(b *testing.B) {
	catalogue := Catalogue(300, 99)
	priors, err := halfPriors(b.Context(), catalogue)
	if err != nil {
		b.Fatal(err)
	}
	var costs [comment.MaxRating + 1]coldCosts // by number of ratings
	for i, comments := range catalogue {
		addColdCosts(b, &costs, comments, priors[1-i%2], 5, false)
	}
	for seed := range uint64(8) {
		for _, comments := range Catalogue(2000, seed)[:2] {
			addColdCosts(b, &costs, comments, priors[0], 2, true)
		}
	}
	for ratings := 2; ratings < comment.MaxRating; ratings++ {
		c := &costs[ratings]
		b.Run(fmt.Sprintf("ratings=%d", ratings), func(b *testing.B) {
			for b.Loop() { // nothing is left to do: units are counted, and no time
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(c.pages, "pages")
			b.ReportMetric(c.bound(thenSample), "bound-then-sample")
			b.ReportMetric(c.bound(thenCounts), "bound-then-counts")
			for level, name := range [knowLevels]string{"nothing", "size", "hint", "counts"} {
				b.ReportMetric(c.known[level]/c.largeLeast, "known-"+name)
			}
		})
	}
}

// coldCosts are what pages of lists of one number of ratings cost.
type coldCosts struct {
	// largeLeast and allLeast are what foresight costs, of large products and of a catalogue.
	largeLeast, allLeast float64
	// known is what pages of large products cost, pages how many they are.
	known [knowLevels]float64
	pages float64
	// begun are what pages cost by what first waves can go by.
	begun map[firstKey]*begun
}

// firstKey is what a first wave can go by, whatever the product: the list, and whether the page is
// behind a cursor.
type firstKey struct {
	ratings   [comment.MaxRating]bool
	languages int
	behind    bool
}

// begun is what pages cost that begin with a first wave for each of assumedSizes: those of large
// products, and those of a catalogue, each product of which weighs the same.
type begun struct {
	large, all [thenLevels][len(assumedSizes)]float64
}

// addColdCosts adds every so many of the pages of a product.
func addColdCosts(tb testing.TB, costs *[comment.MaxRating + 1]coldCosts, comments []comment.Comment, prior *planner.Prior, every int, large bool) {
	tb.Helper()
	p, err := NewProduct(tb.Context(), comments)
	if err != nil {
		tb.Fatal(err)
	}
	p.prior = prior
	visits := p.visits(PageSize)
	weight := 1 / float64(len(visits))
	for n := len(comments) % every; n < len(visits); n += every {
		v := visits[n]
		c := &costs[len(ratingsOf(v.query.Filter))]
		b, likely := c.begunBy(v), p.likely(v.query.Filter)
		for i, size := range assumedSizes {
			for then, second := range [thenLevels]planner.Known{thenSample: likely, thenCounts: p.known()} {
				first := likely
				first.Hint.Comments = size
				units := costOf(tb, p, v, first, second)
				if large {
					b.large[then][i] += units
				} else {
					b.all[then][i] += weight * units
				}
			}
		}
		if large {
			c.addKnown(tb, p, v)
		} else {
			c.allLeast += weight * p.foresee(v)
		}
	}
}

// begunBy is what pages cost that are alike for a first wave.
func (c *coldCosts) begunBy(v visit) *begun {
	key := firstKey{languages: len(v.query.Filter.Languages), behind: v.page > 1}
	for _, rating := range v.query.Filter.Ratings {
		key.ratings[rating-1] = true
	}
	if c.begun == nil {
		c.begun = map[firstKey]*begun{}
	}
	if c.begun[key] == nil {
		c.begun[key] = &begun{}
	}
	return c.begun[key]
}

// addKnown adds a page of a large product by what may be known of it.
func (c *coldCosts) addKnown(tb testing.TB, p *Product, v visit) {
	tb.Helper()
	sized := p.likely(v.query.Filter)
	sized.Hint.Comments = float64(len(p.comments))
	for level, known := range [knowLevels]planner.Known{
		knowNothing: p.likely(v.query.Filter), knowSize: sized, knowHint: p.hinted().likely(v.query.Filter), knowCounts: p.known(),
	} {
		c.known[level] += costOf(tb, p, v, known, known)
	}
	c.largeLeast += p.foresee(v)
	c.pages++
}

// costOf is what a page costs whose first wave is planned by one knowledge, and the second by another.
func costOf(tb testing.TB, p *Product, v visit, first, second planner.Known) float64 {
	tb.Helper()
	var asked atomic.Int32
	_, cost, err := p.planBy(tb.Context(), p.table.Store(), v.query, func(comment.Query) planner.Known {
		if asked.Add(1) == 1 {
			return first
		}
		return second
	})
	if err != nil {
		tb.Fatal(err)
	}
	return cost.Units
}

// bound is what pages of large products cost at least, over foresight, if those of a catalogue cost
// mostOverall at most. At any price for each unit of the catalogue beyond that, the cheapest choice of
// first waves costs no more than a choice that needs none.
func (c *coldCosts) bound(then int) (most float64) {
	for price := 0.0; price < 20; price += 0.05 {
		total := -price * mostOverall
		for _, b := range c.begun {
			cheapest := math.Inf(1)
			for i := range assumedSizes {
				cheapest = min(cheapest, b.large[then][i]/c.largeLeast+price*b.all[then][i]/c.allLeast)
			}
			total += cheapest
		}
		most = max(most, total)
	}
	return most
}
