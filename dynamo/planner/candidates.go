package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
)

// mostExpected is for how many parts that differ room is made at once, at most.
const mostExpected = 8

// expectedParts returns for how many parts of some covers room is made at once. Mixtures have others
// of each language.
func expectedParts(covers []Candidate, filter comment.Filter) int {
	parts := len(filter.Languages) * len(filter.Ratings)
	for i := range covers {
		parts += len(covers[i].Cover)
	}
	return min(parts, mostExpected)
}

// newEstimator makes the estimator of a request for a part of a list.
func newEstimator(known Known, filter comment.Filter, r Request) *estimator {
	e := &estimator{Known: known, filter: filter, want: r.Want, last: r.Last, wave: wavePrice}
	if r.Sample != nil {
		e.wave = thirdWavePrice
	}
	e.covers = coversWithin(filter, maxReads)
	e.firsts = make([]partCall, 0, expectedParts(e.covers, filter))
	e.Sizes = known.LikelySizes()
	if stats := known.counts(filter); stats != nil {
		e.grid = gridOf(stats, filter.Languages)
		e.matches = max(stats.AtMost(filter).Total(), 1)
		e.known = make([]cumulated, 0, len(counted))
		return e
	}
	e.belief, e.Trusted = newBelief(known, filter, r), false
	e.grid = e.belief.shares
	e.matches = max(e.belief.list, 1)
	e.known = make([]cumulated, 0, len(e.belief.sizes))
	if r.Sample == nil {
		e.rest = &rest{one: e.afterwards(1), all: e.afterwards(e.want)}
	}
	return e
}

// choice is what an estimator chose: its candidates, the limits of the parts of the first, and
// whether counts were not known. It is not changed once it is made.
type choice struct {
	candidates []Candidate
	limits     []int
	likely     bool
}

// candidates are the covers for the page, in the order of their prices; of equal ones, those of
// fewer reads come first, then those that hold fewer other comments.
func (e *estimator) candidates() []Candidate {
	out := e.covers
	for i := range out {
		out[i].Units, out[i].Price = e.estimate(out[i].Cover)
	}
	if n := len(e.filter.Languages); n > 0 && n <= maxMixed && len(e.filter.Ratings) > 0 {
		out = append(out, mixture(e.filter, e.estimate))
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		if a.Price != b.Price {
			return cmp.Compare(a.Price, b.Price)
		}
		return cmp.Compare(e.reads(a.Cover), e.reads(b.Cover))
	})
	return out
}

// choose returns the candidates, and the limits of the first calls of the cheapest.
func (e *estimator) choose() choice {
	c := choice{candidates: e.candidates(), likely: e.belief != nil}
	cover := c.candidates[0].Cover
	c.limits = make([]int, len(cover))
	for i := range cover {
		c.limits[i] = e.first(&cover[i]).limit
	}
	return c
}

// reads is how many parts of a cover are read: all that are not known to be empty.
func (e *estimator) reads(cover Cover) int {
	reads := len(cover)
	for i := range cover {
		if e.leaves(&cover[i]) {
			reads--
		}
	}
	return reads
}

// leaves tells whether a part is known to be empty and left out.
func (e *estimator) leaves(part *Part) bool {
	if !e.Trusted {
		return false
	}
	_, none := e.grid.wanted(part)
	return none
}

// estimate returns the expected Units and Price of a cover.
func (e *estimator) estimate(cover Cover) (units, price float64) {
	return e.estimateBelow(cover, math.Inf(1))
}

// estimateBelow is estimate for a cover that is wanted only if its Price is below most. If it is not,
// the result is any Price from most on.
func (e *estimator) estimateBelow(cover Cover, most float64) (units, price float64) {
	price = float64(max(e.reads(cover)-1, 0)) * callPrice
	for i := 0; i < len(cover) && price < most; i++ {
		if e.leaves(&cover[i]) {
			continue
		}
		first := e.first(&cover[i])
		units += first.units
		price += first.price
	}
	return units, price
}

// afterwards is the price of a second wave for so many comments of a large product.
func (e *estimator) afterwards(want int) float64 {
	b := *e.belief
	b.sizes = likelySizes{{comments: 1e9, probability: 1}}
	b.scanned, b.ratings, b.languages = b.scanned+typicalSample, b.ratings+typicalSample, b.languages+typicalSample
	then := *e // firsts too: nothing was estimated yet, and there is room for more
	then.belief, then.want, then.last, then.wave = &b, want, nil, thirdWavePrice
	best := math.Inf(1)
	for _, candidate := range slices.Backward(e.covers) { // those of few parts are soon estimated
		_, price := then.estimateBelow(candidate.Cover, best)
		best = min(best, price)
	}
	return best
}

// typicalSample is how many comments a sample has about.
const typicalSample = 12
