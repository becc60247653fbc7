package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// estimator estimates the cost of reads from the knowledge of a product, and from likely values for
// what is unknown. Wrong estimates cost read units, never comments.
type estimator struct {
	Knowledge
	// filter is the list's, and want is how many of its comments to read.
	filter comment.Filter
	want   int
	// covers are the covers of the filter that are not too wide.
	covers []Candidate
	// last is what the stretch held when it was last read; nil if unknown.
	last *LastPage
	// grid has the counts, or shares in their place. matches is the count of the whole list, at
	// least 1.
	grid    grid
	matches int
	// belief replaces the counts; nil if these are known.
	belief *belief
	// wave is the price of a further wave.
	wave float64
	// secondWave is the price of a second wave after a sample. It is nil if there are counts, or a
	// sample.
	secondWave *secondWave
	// firsts caches the first calls estimated so far: many parts are alike, and covers share parts.
	firsts []partCall
	// sums is memory that each holding reuses for its sums.
	sums []cumulated
}

// secondWave is the price of a second wave for a large product: for one comment, and for all that
// are wanted.
type secondWave struct{ one, all float64 }

const (
	// wavePrice is the price of a further wave of reads, in read units: half a unit or more for its
	// calls, and the time that a person waits for them.
	wavePrice = 2
	// waitPrice is the part of wavePrice for the waiting time.
	waitPrice = 1.5
	// thirdWavePrice is the price of a third wave. It is so high that hardly any page takes one.
	thirdWavePrice = 50
	// callPrice is the price of each call of the first wave beyond its first, in read units:
	// processor time, and the wait for the slowest call.
	callPrice = 0.1
)

// firstCall is the first call of a part.
type firstCall struct {
	limit int
	// units is the expected cost of the call in read units. price adds the price of a further wave
	// times the probability that one follows.
	units, price float64
}

// partCall caches the first call of a part, with the inputs that it depends on.
type partCall struct {
	part  Part
	size  ItemSize
	share share
	call  firstCall
}

// reads returns how many parts of a cover are read: all that are not known to be empty.
func (e *estimator) reads(cover Cover) int {
	reads := len(cover)
	for i := 0; e.Trusted && i < len(cover); i++ {
		if _, none := e.grid.wanted(&cover[i]); none {
			reads--
		}
	}
	return reads
}

// estimate returns the expected Units and Price of a cover.
func (e *estimator) estimate(cover Cover) (units, price float64) {
	if len(cover) > 1 {
		price = float64(max(e.reads(cover)-1, 0)) * callPrice
	}
	for i := 0; i < len(cover); i++ {
		s, none := e.share(&cover[i])
		if none && e.Trusted {
			continue
		}
		first := e.first(&cover[i], s)
		units += first.units
		price += first.price
	}
	return units, price
}

// first returns the first call with the lowest expected price for a part. Unless the last page is
// remembered, parts of one index with equal shares and sizes have the same first call.
func (e *estimator) first(part *Part, s share) firstCall {
	size, alike := e.Sizes.Of(part.Partition), !e.last.current(e.want)
	for i := range e.firsts {
		p := &e.firsts[i]
		if p.share == s && p.size == size && p.part.Index == part.Index && (alike || p.part.equal(part)) {
			return p.call
		}
	}
	call := e.cheapest(part, s, size)
	e.firsts = append(e.firsts, partCall{part: *part, size: size, share: s, call: call})
	return call
}

// further returns the price of what follows if a call with this limit is not enough. If the part
// holds the whole list, the call is a sample, and a plan made from it reads the missing comments.
func (e *estimator) further(s share, limit int) float64 {
	if e.secondWave == nil || !s.residual || s.wanted != s.matches {
		return e.wave
	}
	missing := max(0, float64(e.want-1)-float64(limit)*float64(s.wanted)/float64(s.held))
	return waitPrice + e.secondWave.one + (e.secondWave.all-e.secondWave.one)*missing/float64(max(e.want-1, 1))
}

// cheapest computes the first call with the lowest expected price. Only a few limits can be
// optimal: those that are enough with some probability, and those that fill a read unit that is
// paid for anyway.
func (e *estimator) cheapest(part *Part, s share, size ItemSize) firstCall {
	best, most := firstCall{price: math.Inf(1)}, MaxLimit
	if !s.residual {
		most = min(e.want, MaxLimit)
	}
	shortage := e.shortage(part, s)
	holding := holding{size: size, numbers: certainSize, times: float64(s.held), of: 1, sums: e.sums[:0]}
	if e.belief != nil {
		holding.numbers, holding.of = e.belief.sizes, shareTotal
	}
	try := func(limit int) {
		limit = min(max(limit, 1), most)
		units, goesOn := holding.call(limit)
		price := units
		if price < best.price && (limit < e.want || s.residual) {
			price += goesOn * shortage.likely(limit) * e.further(s, limit)
		}
		if price < best.price {
			best = firstCall{limit: limit, units: units, price: price}
		}
	}
	last, tried := 0, margins[:6]
	if e.belief != nil {
		tried = margins[:]
	}
	for _, deviations := range tried {
		needed := s.scanFor(shortage.mean + deviations*shortage.deviation)
		if needed == last {
			continue
		}
		last = needed
		try(needed)
		try(size.fitting(needed))
	}
	if e.belief != nil {
		try(most)
		for half := 1; half <= mostSampled; half++ {
			try(size.within(float64(half * layout.UnitBytes)))
		}
	}
	return best
}

// margins are how many standard deviations the tried limits are above the mean. The last ones are
// for unknown counts.
var margins = [...]float64{0.5, 1, 1.5, 2, 2.5, 3, 4, 5}

// mostSampled is how many half units the limits tried for a sample may fill.
const mostSampled = 6

// share returns the share of a part, and whether its counts of all ratings are zero. Totals below
// zero, from damaged statistics, are taken as zero.
func (e *estimator) share(part *Part) (s share, none bool) {
	wanted, none := e.grid.wanted(part)
	wanted = max(0, wanted)
	held, residual := wanted, part.Residual()
	if residual {
		held = max(wanted, e.grid.held(&part.Partition))
	}
	return share{held: held, wanted: wanted, matches: max(e.matches, wanted), residual: residual}, none
}

// shortage returns what a call of a part has to bring. If counts are unknown, the number of items
// that a residual filter returns is beta-binomial. A second wave wants as many comments of a part
// as it may plausibly need, to avoid a third.
func (e *estimator) shortage(part *Part, s share) shortage {
	out := shortage{share: s, want: e.want}
	out.mean, out.deviation = e.need(part, s)
	whole := s.wanted == s.matches
	if e.belief == nil || !s.residual || e.last.current(e.want) || !whole && e.secondWave != nil {
		return out
	}
	if !whole {
		in := float64(s.wanted) / float64(s.matches)
		wanted, _ := e.belief.spread(part, s, float64(e.want), float64(e.want)*in*(1-in), 0)
		out.want = min(e.want, int(math.Ceil(float64(e.want)*in+2.5*math.Sqrt(wanted)))+1)
	}
	out.returned = newBetaBinomial(float64(s.wanted)/float64(s.held), e.belief.weight(part, s))
	return out
}

// need returns how many items of a part belong to the next want comments of the list or stand
// between them: mean and standard deviation. If comments of each kind are spread evenly, the former
// are binomial, and the latter are negative binomial, as failures before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
// A page that was read before gives better numbers.
func (e *estimator) need(part *Part, s share) (mean, deviation float64) {
	n, matches := float64(e.want), float64(s.matches)
	in, out := float64(s.wanted)/matches, float64(s.held-s.wanted)/matches
	wanted, wantedVariance := n*in, n*in*(1-in)
	others, othersVariance := n*out, n*out*(1+out)
	if e.belief != nil {
		wantedVariance, othersVariance = e.belief.spread(part, s, n, wantedVariance, othersVariance)
	}
	if e.last.current(e.want) {
		shown := e.last.count(part)
		wanted, wantedVariance = e.last.wanted(part, shown, in)
		if mean, variance, known := e.last.between(part, shown); known {
			others, othersVariance = mean, variance
		}
	}
	return wanted + others, math.Sqrt(wantedVariance + othersVariance)
}
