package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/capacity"
)

// estimator estimates what reads cost from what is known of a product, and from what is likely where
// nothing is known. Wrong estimates cost read units, never comments.
type estimator struct {
	Known
	// filter is that of the list, want how many comments of it are to be read.
	filter comment.Filter
	want   int
	// last is what the stretch held when it was last read, nil if that is not known.
	last *LastPage
	// matches is how many comments are in the whole list, at least 1.
	matches int
	// belief takes the place of counts, nil if these are known. Then Stats are the belief's shares.
	belief *belief
	// wave is the price of a further wave.
	wave float64
	// rest is the price of a second wave after a sample. It is nil if there are counts, or a sample.
	rest *rest
}

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
	// maxMixed is up to how many languages mixtures are considered. For more, computing them costs
	// more than they save.
	maxMixed = 8
)

// newEstimator makes the estimator of a request for a part of a list.
func newEstimator(known Known, filter comment.Filter, r Request) estimator {
	e := estimator{Known: known, filter: filter, want: r.Want, last: r.Last, wave: wavePrice}
	if r.Sample != nil {
		e.wave = thirdWavePrice
	}
	e.Sizes = known.LikelySizes()
	if e.Stats = known.counts(filter); e.Stats != nil {
		e.matches = max(e.Stats.AtMost(filter).Total(), 1)
		return e
	}
	e.believe(newBelief(known, filter, r))
	if r.Sample == nil {
		e.rest = &rest{one: e.afterwards(1), all: e.afterwards(e.want)}
	}
	return e
}

// believe puts a belief in the place of counts.
func (e *estimator) believe(b *belief) {
	e.belief, e.Stats, e.Trusted = b, b.shares, false
	e.matches = max(b.shares.Counts(e.filter).Total(), 1)
}

// candidates are the covers for the page, in the order of their prices; of equal ones, those of
// fewer reads come first, then those that hold fewer other comments.
func (e estimator) candidates() []Candidate {
	out := slices.DeleteFunc(covers(e.filter), func(c Candidate) bool { return len(c.Cover) > maxReads })
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
		return cmp.Compare(len(e.read(a.Cover)), len(e.read(b.Cover)))
	})
	return out
}

// read are the parts of a cover that are read: all that are not known to be empty.
func (e estimator) read(cover Cover) Cover {
	if !e.Trusted {
		return cover
	}
	return slices.DeleteFunc(slices.Clone(cover), e.empty)
}

// estimate returns the expected Units and Price of a cover.
func (e estimator) estimate(cover Cover) (units, price float64) {
	reads := e.read(cover)
	price = float64(max(len(reads)-1, 0)) * callPrice
	for _, part := range reads {
		first := e.first(part)
		units += first.units
		price += first.price
	}
	return units, price
}

// firstCall is the first call of a part.
type firstCall struct {
	limit int
	// units is what the call is expected to cost in read units. price adds wavePrice times the
	// probability that it is not enough and a further wave follows.
	units, price float64
}

// first is the first call of a part that has the lowest expected price.
func (e estimator) first(part Part) firstCall {
	s := e.share(part)
	if e.rest != nil && s.wanted == s.matches && part.Residual() {
		return e.sampling(part, s)
	}
	return e.cheapest(part, s, func(int) float64 { return e.wave })
}

// sampling is the first call of a part that holds the whole list. If it is not enough, another plan
// follows for what is missing, made from what the call told.
func (e estimator) sampling(part Part, s share) firstCall {
	return e.cheapest(part, s, func(limit int) float64 {
		missing := max(0, float64(e.want-1)-float64(limit)*float64(s.wanted)/float64(s.held))
		return waitPrice + e.rest.one + (e.rest.all-e.rest.one)*missing/float64(max(e.want-1, 1))
	})
}

// rest is the price of a second wave, for one comment of a large product and for all that are wanted.
type rest struct{ one, all float64 }

// afterwards is the price of a second wave for so many comments of a large product.
func (e estimator) afterwards(want int) float64 {
	b := *e.belief
	b.sizes = likelySizes{{comments: 1e9, probability: 1}}
	b.scanned, b.ratings, b.languages = b.scanned+typicalSample, b.ratings+typicalSample, b.languages+typicalSample
	e.belief, e.want, e.last, e.wave = &b, want, nil, thirdWavePrice
	best := math.Inf(1)
	for _, candidate := range covers(e.filter) {
		if len(candidate.Cover) <= maxReads {
			_, price := e.estimate(candidate.Cover)
			best = min(best, price)
		}
	}
	return best
}

// typicalSample is how many comments a sample has about.
const typicalSample = 12

// cheapest is the first call of a part that has the lowest expected price, given the price of a
// further wave after a call with a limit. Only a few limits can be optimal: those that are enough
// with some probability, and those that fill a read unit that is paid for anyway.
func (e estimator) cheapest(part Part, s share, wave func(limit int) float64) firstCall {
	size := e.Sizes.Of(part.Partition)
	mean, deviation := e.need(part, s)
	holding := e.holding(s, size)
	most := MaxLimit
	if !part.Residual() {
		most = min(e.want, MaxLimit)
	}
	best := firstCall{price: math.Inf(1)}
	try := func(k int) {
		k = min(max(k, 1), most)
		units, goesOn := holding.call(k, size)
		short := 0.0
		if k < e.want || part.Residual() {
			short = goesOn * e.short(part, s, k, mean, deviation)
		}
		if price := units + short*wave(k); price < best.price {
			best = firstCall{limit: k, units: units, price: price}
		}
	}
	for _, deviations := range e.margins() {
		needed := s.scanFor(mean + deviations*deviation)
		try(needed)
		try(size.fitting(needed))
	}
	if e.belief != nil {
		try(most)
		for half := 1; half <= mostSampled; half++ {
			try(size.within(float64(half * capacity.UnitBytes)))
		}
	}
	return best
}

// short is the probability that a call with a limit is not enough, if it does not come to the end.
// If counts are not known, what a residual filter returns is a beta-binomial number. In a second
// wave, as many are wanted of a part as may have to be, so that no third follows.
func (e estimator) short(part Part, s share, limit int, mean, deviation float64) float64 {
	whole := s.wanted == s.matches
	if e.belief == nil || !part.Residual() || e.last.current(e.want) || !whole && e.rest != nil {
		return above(s.enough(limit), mean, deviation)
	}
	want := e.want
	if !whole {
		in := float64(s.wanted) / float64(s.matches)
		wanted, _ := e.belief.spread(part, s, float64(want), float64(want)*in*(1-in), 0)
		want = min(want, int(math.Ceil(float64(want)*in+2.5*math.Sqrt(wanted)))+1)
	}
	return below(want, limit, float64(s.wanted)/float64(s.held), e.belief.known(part, s))
}

// margins are by how many deviations limits may be above the mean.
func (e estimator) margins() []float64 {
	if e.belief != nil {
		return margins[:]
	}
	return margins[:6]
}

var margins = [...]float64{0.5, 1, 1.5, 2, 2.5, 3, 4, 5}

// mostSampled is how many half units limits fill that do not follow from what is needed.
const mostSampled = 6

// holding is how many comments a part may hold.
func (e estimator) holding(s share, size ItemSize) (h holding) {
	if e.belief == nil {
		h.add(float64(s.held), 1, size)
		return h
	}
	for _, one := range e.belief.sizes {
		h.add(one.comments*float64(s.held)/shareTotal, one.probability, size)
	}
	return h
}

// share is the share of a part. Damaged statistics may have counts below zero, which are taken as
// zero.
func (e estimator) share(part Part) share {
	wanted := max(0, e.Stats.AtMost(part.wanted()).Total())
	held := wanted
	if part.Residual() {
		held = max(wanted, e.Stats.AtMost(Part{Partition: part.Partition}.wanted()).Total())
	}
	return share{held: held, wanted: wanted, matches: max(e.matches, wanted)}
}

// need is how many items of a part belong to the next want comments of the list or stand between
// them: mean and standard deviation. If comments of each kind are spread evenly, the former are a
// binomial sample, and the latter come between them as failures come before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
// More is known of a page that was read before.
func (e estimator) need(part Part, s share) (mean, deviation float64) {
	n, matches := float64(e.want), float64(s.matches)
	in, out := float64(s.wanted)/matches, float64(s.held-s.wanted)/matches
	wanted, wantedVariance := n*in, n*in*(1-in)
	others, othersVariance := n*out, n*out*(1+out)
	if e.belief != nil {
		wantedVariance, othersVariance = e.belief.spread(part, s, n, wantedVariance, othersVariance)
	}
	if e.last.current(e.want) {
		wanted, wantedVariance = e.last.wanted(part, in)
		if mean, variance, known := e.last.between(part); known {
			others, othersVariance = mean, variance
		}
	}
	return wanted + others, math.Sqrt(wantedVariance + othersVariance)
}
