package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// estimator estimates the cost of reads from the knowledge of a product, and from likely values
// where that is missing. Wrong estimates cost read units, never comments.
type estimator struct {
	Knowledge
	// filter is that of the list, want how many comments of it are to be read.
	filter comment.Filter
	want   int
	// covers are the covers of the filter that are not too wide.
	covers []Candidate
	// last is what the stretch held when it was last read, nil if that is not known.
	last *LastPage
	// grid are the counts, or shares in their place. matches is how many of these are in the whole
	// list, at least 1.
	grid    grid
	matches int
	// belief takes the place of counts, nil if these are known.
	belief *belief
	// wave is the price of a further wave.
	wave float64
	// secondWave is the price of a second wave after a sample. It is nil if there are counts, or a
	// sample.
	secondWave *secondWave
	// firsts are the first calls that were estimated so far. Many parts are alike, and covers share
	// parts.
	firsts []partCall
	// sums is the memory for the sums of all holdings, one after the other.
	sums []cumulated
}

// secondWave is the price of a second wave, for one comment of a large product and for all that are
// wanted.
type secondWave struct{ one, all float64 }

const (
	// wavePrice is the price of a further wave of reads, in read units: half a unit or more for its
	// calls, and the time that a person waits for them.
	wavePrice = 2
	// waitPrice is the part of wavePrice for the time.
	waitPrice = 1.5
	// thirdWavePrice is the price of a third wave. It is so high that hardly any page takes one.
	thirdWavePrice = 50
	// callPrice is the price of each call of the first wave beyond its first, in read units:
	// processor time, and that a page waits for the slowest of its calls.
	callPrice = 0.1
)

// firstCall is the first call of a part.
type firstCall struct {
	limit int
	// units is what the call is expected to cost in read units. price adds wavePrice times the
	// probability that it is not enough and a further wave follows.
	units, price float64
}

// partCall is a part, what its first call depends on, and the call.
type partCall struct {
	part  Part
	size  ItemSize
	share share
	call  firstCall
}

// reads is how many parts of a cover are read: all that are not known to be empty.
func (e *estimator) reads(cover Cover) int {
	reads := len(cover)
	for i := 0; e.Trusted && i < len(cover); i++ {
		if _, none := e.grid.wanted(&cover[i]); none {
			reads--
		}
	}
	return reads
}

// estimate returns the expected Units and Price of a cover that is wanted only if its Price is at
// most that. If it is not, the result is any Price above.
func (e *estimator) estimate(cover Cover, most float64) (units, price float64) {
	if len(cover) > 1 {
		price = float64(max(e.reads(cover)-1, 0)) * callPrice
	}
	for i := 0; i < len(cover) && price <= most; i++ {
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

// first is the first call of a part that has the lowest expected price. Where nothing is remembered
// of a page, parts of one index that have the same share of the list and the same sizes are alike.
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

// further is the price of what follows a call with a limit that is not enough. If the part holds
// the whole list, the call is a sample: another plan, made from what it told, follows for what is
// missing.
func (e *estimator) further(s share, limit int) float64 {
	if e.secondWave == nil || !s.residual || s.wanted != s.matches {
		return e.wave
	}
	missing := max(0, float64(e.want-1)-float64(limit)*float64(s.wanted)/float64(s.held))
	return waitPrice + e.secondWave.one + (e.secondWave.all-e.secondWave.one)*missing/float64(max(e.want-1, 1))
}

// cheapest is the first call of a part that has the lowest expected price. Only a few limits can be
// optimal: those that are enough with some probability, and those that fill a read unit that is
// paid for anyway.
func (e *estimator) cheapest(part *Part, s share, size ItemSize) firstCall {
	search := search{estimator: e, most: MaxLimit}
	search.shortage, search.holding = e.shortage(part, s), e.holding(s, size)
	search.best.price = math.Inf(1)
	if !s.residual {
		search.most = min(e.want, MaxLimit)
	}
	last := 0
	for _, deviations := range e.margins() {
		needed := s.scanFor(search.mean + deviations*search.deviation)
		if needed == last {
			continue
		}
		last = needed
		search.try(needed)
		search.try(size.fitting(needed))
	}
	if e.belief != nil {
		search.try(search.most)
		for half := 1; half <= mostSampled; half++ {
			search.try(size.within(float64(half * layout.UnitBytes)))
		}
	}
	return search.best
}

// margins are by how many deviations limits may be above the mean.
func (e *estimator) margins() []float64 {
	if e.belief != nil {
		return margins[:]
	}
	return margins[:6]
}

var margins = [...]float64{0.5, 1, 1.5, 2, 2.5, 3, 4, 5}

// mostSampled is how many half units limits fill that do not follow from what is needed.
const mostSampled = 6

// search is the search for the limit of one call.
type search struct {
	*estimator
	shortage
	holding holding
	most    int
	best    firstCall
	tried   [MaxLimit/64 + 1]uint64 // a bit for each limit
	// dear is a limit whose units alone cost more than best, 0 for none.
	dear int
	// least is the lowest limit for which it was computed how likely it is not enough.
	least       int
	likelyShort float64
}

// rounding is by how much expected units may fall where a limit rises: they are approximations.
const rounding = 0.02

// try tries a limit. What cannot be better than the best so far is not computed: a higher limit
// costs more units, and a lower one is less likely enough.
func (s *search) try(limit int) {
	limit = min(max(limit, 1), s.most)
	word, bit := uint(limit)/64, uint64(1)<<(uint(limit)%64)
	if s.tried[word]&bit != 0 || s.dear > 0 && limit > s.dear {
		return
	}
	s.tried[word] |= bit
	units, goesOn := s.holding.call(limit)
	if units >= s.best.price {
		if units >= s.best.price+rounding {
			s.dear = limit
		}
		return
	}
	price := units
	if limit < s.estimator.want || s.shortage.share.residual {
		further := goesOn * s.further(s.shortage.share, limit)
		if limit < s.least && units+s.likelyShort*further >= s.best.price {
			return
		}
		likely := s.likely(limit)
		if s.least == 0 || limit < s.least {
			s.least, s.likelyShort = limit, likely
		}
		price += likely * further
	}
	if price < s.best.price {
		s.best = firstCall{limit: limit, units: units, price: price}
	}
}

// share is the share of a part, and whether its counts of each rating are zero. Damaged statistics
// may have counts below zero, which are taken as zero in the share.
func (e *estimator) share(part *Part) (s share, none bool) {
	wanted, none := e.grid.wanted(part)
	wanted = max(0, wanted)
	held, residual := wanted, part.Residual()
	if residual {
		held = max(wanted, e.grid.held(&part.Partition))
	}
	return share{held: held, wanted: wanted, matches: max(e.matches, wanted), residual: residual}, none
}

// holding is how many comments a part may hold.
func (e *estimator) holding(s share, size ItemSize) holding {
	h := holding{size: size, numbers: certainSize, times: float64(s.held), of: 1, sums: e.sums[:0]}
	if e.belief != nil {
		h.numbers, h.of = e.belief.sizes, shareTotal
	}
	return h
}

// shortage is what a call of a part has to bring. If counts are not known, what a residual filter
// returns is a beta-binomial number. In a second wave, as many are wanted of a part as may have to
// be, so that no third follows.
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

// need is how many items of a part belong to the next want comments of the list or stand between
// them: mean and standard deviation. If comments of each kind are spread evenly, the former are a
// binomial sample, and the latter come between them as failures come before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
// More is known of a page that was read before.
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
