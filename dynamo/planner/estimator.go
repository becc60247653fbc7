package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
)

// estimator estimates what reads cost from what is known of a product, and from assumptions where
// nothing is known. Wrong estimates cost read units, never comments.
type estimator struct {
	Known
	// last is what the stretch held when it was last read, nil if that is not known.
	last *LastPage
	// matches is how many comments are in the whole list, at least 1.
	matches int
}

const (
	// wavePrice is the price of a further wave of reads, in read units: half a unit or more for its
	// calls, and the time that a person waits for them.
	wavePrice = 2
	// callPrice is the price of each call of the first wave beyond its first, in read units:
	// processor time, and that a page waits for the slowest of its calls.
	callPrice = 0.1
	// residualFactor is how many items a read with a residual filter scans for each one wanted, if
	// there are no counts.
	residualFactor = 4
	// maxMixed is up to how many languages mixtures are considered. For more, computing them costs
	// more than they save.
	maxMixed = 8
)

// newEstimator makes the estimator of a list. Counts by which nothing is in the list, unless they
// are trusted, are ignored: the product is probably new and not counted yet.
func newEstimator(known Known, filter comment.Filter, last *LastPage) estimator {
	e := estimator{Known: known, last: last}
	matches := e.Stats.AtMost(filter).Total()
	if !e.Trusted && matches <= 0 {
		e.Stats = nil
	}
	e.matches = max(matches, 1)
	if e.Sizes.Any.Mean == 0 {
		e.Sizes = Sizes{Any: unknownSize}
	}
	return e
}

// candidates are the covers for a page of so many comments, in the order of their prices; of equal
// ones, those of fewer reads come first, then those that hold fewer other comments. Without counts,
// the narrowest comes first.
func (e estimator) candidates(filter comment.Filter, want int) []Candidate {
	out := covers(filter)
	if e.Stats == nil {
		chosen := narrowest(out)
		others := slices.DeleteFunc(out, func(c Candidate) bool { return c.Name == chosen.Name })
		return append([]Candidate{chosen}, others...)
	}
	out = slices.DeleteFunc(out, func(c Candidate) bool { return len(c.Cover) > maxReads })
	estimate := func(cover Cover) (units, price float64) { return e.estimate(cover, want) }
	for i := range out {
		out[i].Units, out[i].Price = estimate(out[i].Cover)
	}
	if n := len(filter.Languages); n > 0 && n <= maxMixed && len(filter.Ratings) > 0 {
		out = append(out, mixture(filter, estimate))
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
func (e estimator) estimate(cover Cover, want int) (units, price float64) {
	reads := e.read(cover)
	price = float64(max(len(reads)-1, 0)) * callPrice
	for _, part := range reads {
		first := e.first(part, want)
		units += first.units
		price += first.price
	}
	return units, price
}

// limit is the Limit of the first call of a part, at least 1.
func (e estimator) limit(part Part, want int) int {
	if e.Stats == nil {
		return min(e.uncountedLimit(part, want), MaxLimit)
	}
	return e.first(part, want).limit
}

// uncountedLimit is the Limit of the first call of a part if there are no counts: as many as are
// wanted, unless the page was read before.
func (e estimator) uncountedLimit(part Part, want int) int {
	switch {
	case part.residual():
		return want * residualFactor
	case e.last.current(want):
		mean, variance := e.last.wanted(part, float64(e.last.count(part))/float64(want))
		return max(1, min(int(mean+2*math.Sqrt(variance))+1, want))
	}
	return want
}

// firstCall is the first call of a part.
type firstCall struct {
	limit int
	// units is what the call is expected to cost in read units. price adds wavePrice times the
	// probability that it is not enough and a further wave follows.
	units, price float64
}

// first is the first call of the lowest expected price. Only a few limits can be optimal: those
// that are enough with some probability, and those that fill a read unit that is paid for anyway.
func (e estimator) first(part Part, want int) firstCall {
	s, size := e.share(part), e.Sizes.Of(part.Partition)
	mean, deviation := e.need(part, s, want)
	most := MaxLimit
	if !part.residual() {
		most = min(want, MaxLimit)
	}
	best := firstCall{price: math.Inf(1)}
	for _, deviations := range [...]float64{0.5, 1, 1.5, 2, 2.5, 3} {
		needed := s.scanFor(mean + deviations*deviation)
		for _, k := range [...]int{needed, size.fitting(needed)} {
			k = min(max(k, 1), most)
			short := 0.0
			if k <= s.held && (k < want || part.residual()) {
				short = above(s.enough(k), mean, deviation)
			}
			units := size.expected(min(k, max(s.held, 1)))
			if price := units + short*wavePrice; price < best.price {
				best = firstCall{limit: k, units: units, price: price}
			}
		}
	}
	return best
}

// share is how many comments of a list are in a part.
type share struct {
	// held is how many comments the partition holds, wanted how many of them are in the list.
	held, wanted int
	// matches is how many comments are in the whole list.
	matches int
}

// share is the share of a part. Damaged statistics may have counts below zero, which are taken as
// zero.
func (e estimator) share(part Part) share {
	wanted := max(0, e.Stats.AtMost(part.wanted()).Total())
	held := wanted
	if part.residual() {
		held = max(wanted, e.Stats.AtMost(Part{Partition: part.Partition}.wanted()).Total())
	}
	return share{held: held, wanted: wanted, matches: max(e.matches, wanted)}
}

// enough is how many needed items a scan of so many is enough for, halfway between two integers. A
// part that holds the whole list has to return just the comments wanted. Any other has to return
// one more, which shows that its next comment comes later than those of the other parts.
func (s share) enough(scanned int) float64 {
	if s.wanted < s.matches {
		return float64(scanned) - 0.5
	}
	return float64(scanned) + 0.5
}

// scanFor is how many items have to be scanned if so many are needed: the inverse of enough.
func (s share) scanFor(needed float64) int {
	if s.wanted < s.matches {
		return int(math.Ceil(needed + 0.5))
	}
	return int(math.Ceil(needed - 0.5))
}

// need is how many items of a part belong to the next want comments of the list or stand between
// them: mean and standard deviation. If comments of each kind are spread evenly, the former are a
// binomial sample, and the latter come between them as failures come before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
// More is known of a page that was read before.
func (e estimator) need(part Part, s share, want int) (mean, deviation float64) {
	n, matches := float64(want), float64(s.matches)
	in, out := float64(s.wanted)/matches, float64(s.held-s.wanted)/matches
	wanted, wantedVariance := n*in, n*in*(1-in)
	others, othersVariance := n*out, n*out*(1+out)
	if e.last.current(want) {
		wanted, wantedVariance = e.last.wanted(part, in)
		if mean, variance, known := e.last.between(part); known {
			others, othersVariance = mean, variance
		}
	}
	return wanted + others, math.Sqrt(wantedVariance + othersVariance)
}
