package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
)

// What a read is expected to cost, by what is believed of a product. Believing wrongly costs reads, never comments.

// estimator is what a planner believes of a product: what is known of it, and what is assumed where nothing is. It has no
// counts if nobody knows any.
type estimator struct {
	Known
	// last is what the stretch held when it was last read, nil when that is not known.
	last *LastPage
	// matches is how many comments are in the whole list, at least 1.
	matches int
}

// unknownSize is that of the items of a product of which none was read: 200 bytes of keys and short attributes, and a text
// of some 50 words.
var unknownSize = ItemSize{Mean: 512, Deviation: 256}

// residualFactor is how many items a read with a residual filter looks at for each one wanted, when nothing is known.
const residualFactor = 4

// estimator is what the planner believes. Counts that know of nothing the filter allows may well be those of a product that
// is not counted yet.
func (p Planner) estimator(last *LastPage) estimator {
	c := estimator{Known: p.Known, last: last}
	matches := c.Stats.AtMost(p.Filter).Total()
	if !c.Trusted && matches <= 0 {
		c.Stats = nil
	}
	c.matches = max(matches, 1)
	if c.Sizes.Any.Mean == 0 {
		c.Sizes = Sizes{Any: unknownSize}
	}
	return c
}

// maxMixed is up to how many languages mixtures are looked at: of more, the price is above what they would save.
const maxMixed = 8

// candidates are the covers for a page of so many comments, the one to read first: that of the least expected price, of
// equals the one of fewest reads, else the one that holds least beside what is wanted. Without counts it is the narrowest.
func (c estimator) candidates(filter comment.Filter, want int) []Candidate {
	out := covers(filter)
	if c.Stats == nil {
		chosen := narrowest(out)
		others := slices.DeleteFunc(out, func(c Candidate) bool { return c.Name == chosen.Name })
		return append([]Candidate{chosen}, others...)
	}
	out = slices.DeleteFunc(out, func(way Candidate) bool { return len(way.Cover) > maxReads })
	price := func(cover Cover) float64 { return c.price(cover, want) }
	for i := range out {
		out[i].Units = price(out[i].Cover)
	}
	if n := len(filter.Languages); n > 0 && n <= maxMixed && len(filter.Ratings) > 0 {
		out = append(out, mixture(filter, price))
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		if a.Units != b.Units {
			return cmp.Compare(a.Units, b.Units)
		}
		return cmp.Compare(len(c.read(a.Cover)), len(c.read(b.Cover)))
	})
	return out
}

// read is what of a cover is read: not what is known to hold nothing that is wanted.
func (c estimator) read(cover Cover) Cover {
	if !c.Trusted {
		return cover
	}
	return slices.DeleteFunc(slices.Clone(cover), c.nothingIn)
}

// price is what the first reads of a cover are expected to cost, in read units.
func (c estimator) price(cover Cover, want int) float64 {
	reads := c.read(cover)
	units := float64(max(len(reads)-1, 0)) * callPrice
	for _, part := range reads {
		_, first := c.first(part, want)
		units += first
	}
	return units
}

// limit is how many items the first read of a part looks at, at least one.
func (c estimator) limit(part Part, want int) int {
	if c.Stats == nil {
		return min(c.blindly(part, want), MaxLimit)
	}
	items, _ := c.first(part, want)
	return items
}

// blindly is how many items the first read of a part looks at without counts: as many as are wanted, unless the page was
// read before.
func (c estimator) blindly(part Part, want int) int {
	switch {
	case part.residual():
		return want * residualFactor
	case c.last.tells(want):
		mean, variance := c.last.within(part, float64(c.last.of(part))/float64(want))
		return max(1, min(int(mean+2*math.Sqrt(variance))+1, want))
	}
	return want
}

// first is how many items a first read of a part best looks at, and what that is expected to cost in read units: those of
// the read itself, and the price of a further round should it not suffice. What could be best is few: to be sure by so many
// deviations, or to read a started unit to its end, since that is paid for.
func (c estimator) first(part Part, want int) (items int, units float64) {
	s, size := c.share(part), c.Sizes.Of(part.Partition)
	mean, deviation := c.need(part, s, want)
	most := MaxLimit
	if !part.residual() {
		most = min(want, MaxLimit)
	}
	units = math.Inf(1)
	for _, sure := range [...]float64{0.5, 1, 1.5, 2, 2.5, 3} {
		needed := s.looking(mean + sure*deviation)
		for _, k := range [...]int{needed, size.fitting(needed)} {
			k = min(max(k, 1), most)
			short := 0.0
			if k <= s.held && (k < want || part.residual()) {
				short = above(s.enough(k), mean, deviation)
			}
			if expected := size.expected(min(k, max(s.held, 1))) + short*wavePrice; expected < units {
				items, units = k, expected
			}
		}
	}
	return items, units
}

// above is the probability that a normally distributed number is above x.
func above(x, mean, deviation float64) float64 {
	if deviation == 0 {
		return certainty(mean > x)
	}
	z := (x - mean) / deviation
	at := math.Abs(z) * tailSteps
	if at >= float64(len(tail)-1) {
		return certainty(z < 0)
	}
	low := int(at)
	p := tail[low] + (at-float64(low))*(tail[low+1]-tail[low])
	if z < 0 {
		return 1 - p
	}
	return p
}

func certainty(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// tail are the probabilities that a standard normal number is above 0, 1/tailSteps, 2/tailSteps and so on: plans ask for
// them dozens of times.
var tail = func() (table [5*tailSteps + 1]float64) {
	for i := range table {
		table[i] = math.Erfc(float64(i)/tailSteps/math.Sqrt2) / 2
	}
	return table
}()

const tailSteps = 20

// wavePrice is what a further round of reads is taken to cost in read units: at least half a unit, and the time that a
// person waits for it.
const wavePrice = 2

// callPrice is what each call beyond the first is taken to cost in read units: its processor time, and that a page waits for the
// slowest of its calls.
const callPrice = 0.1

// share is how a part of a cover stands to the whole list.
type share struct {
	// held is how many comments the partition holds, chosen how many of them the part is read for.
	held, chosen int
	// matches is how many comments are in the whole list.
	matches int
}

// share is that of a part. Statistics that were damaged may hold counts below zero, which count as none.
func (c estimator) share(part Part) share {
	chosen := max(0, c.Stats.AtMost(part.wanted()).Total())
	held := chosen
	if part.residual() {
		held = max(chosen, c.Stats.AtMost(Part{Partition: part.Partition}.wanted()).Total())
	}
	return share{held: held, chosen: chosen, matches: max(c.matches, chosen)}
}

// enough is how many needed items a read of so many is enough for, halfway between two whole numbers. A part that is the
// whole list has to yield just what is wanted. Beside others it has to yield one more, or nobody knows that its next
// comment does not come first.
func (s share) enough(looked int) float64 {
	if s.chosen < s.matches {
		return float64(looked) - 0.5
	}
	return float64(looked) + 0.5
}

// looking is how many items have to be looked at if so many are needed.
func (s share) looking(needed float64) int {
	if s.chosen < s.matches {
		return int(math.Ceil(needed + 0.5))
	}
	return int(math.Ceil(needed - 0.5))
}

// need is how many items of a part belong to the next want comments of the list, or stand between them: mean and standard
// deviation. If comments of each kind lie spread evenly, those of the part that are in the list are a binomial sample of
// these, and those that are not come between them as failures do before a number of successes.
// https://en.wikipedia.org/wiki/Negative_binomial_distribution
// Of a page that was read before, more is known.
func (c estimator) need(part Part, s share, want int) (mean, deviation float64) {
	n, matches := float64(want), float64(s.matches)
	in, out := float64(s.chosen)/matches, float64(s.held-s.chosen)/matches
	within, variance := n*in, n*in*(1-in)
	between, varying := n*out, n*out*(1+out)
	if c.last.tells(want) {
		within, variance = c.last.within(part, in)
		if mean, v, known := c.last.between(part); known {
			between, varying = mean, v
		}
	}
	return within + between, math.Sqrt(variance + varying)
}
