package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

func newEstimator(known Knowledge, filter comment.Filter, r Request) *estimator {
	e := &estimator{Knowledge: known, filter: filter, want: r.Want, last: r.Last, wave: wavePrice}
	if r.Sample != nil {
		e.wave = thirdWavePrice
	}
	e.covers = coversWithin(filter, maxReads)
	e.Sizes = known.LikelySizes()
	if stats := known.counts(filter); stats != nil {
		e.grid = gridOf(stats, filter)
		whole := e.covers[len(e.covers)-1]
		listed, _ := e.grid.wanted(&whole.Cover[0])
		e.matches = max(listed, 1)
		e.sums = make([]cumulated, 0, len(certainSize))
		return e
	}
	e.belief, e.Trusted = newBelief(filter, r), false
	e.grid = e.belief.shares
	e.matches = max(e.belief.list, 1)
	e.sums = make([]cumulated, 0, len(e.belief.sizes))
	if r.Sample == nil {
		e.secondWave = &secondWave{one: e.afterwards(1), all: e.afterwards(e.want)}
	}
	return e
}

// choose returns the covers for the page, the best first, and the limits of its first calls. The
// best has the lowest price. Among equals it has the fewest reads, then the fewest other comments.
func (e *estimator) choose() (candidates []Candidate, limits []int) {
	candidates = e.covers
	for i := range candidates {
		candidates[i].Units, candidates[i].Price = e.estimate(candidates[i].Cover)
	}
	languages, ratings := len(e.filter.Languages), len(e.filter.Ratings)
	if languages > 0 && languages <= maxMixed && ratings > 0 && !ofHelpful(e.filter) {
		candidates = append(candidates, e.mixture())
	}
	// For one language and two ratings with known counts, the covers in enough suffice. Any other
	// cover makes as many reads as one of these, from partitions that hold more, and so comes last.
	needless := func(c Candidate) bool {
		return e.belief == nil && languages == 1 && ratings == 2 && !slices.Contains(enough, c.Name)
	}
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		switch last := needless(a); {
		case last != needless(b) && last:
			return 1
		case last != needless(b):
			return -1
		case a.Price != b.Price:
			return cmp.Compare(a.Price, b.Price)
		}
		return cmp.Compare(e.reads(a.Cover), e.reads(b.Cover))
	})
	best := candidates[0].Cover
	limits = make([]int, len(best))
	for i := range best {
		s, _ := e.share(&best[i])
		limits[i] = e.first(&best[i], s).limit
	}
	return candidates, limits
}

var enough = []string{"cells", "languages", "media", "helpful"}

// afterwards returns the price of a second wave for want comments of a large product.
func (e *estimator) afterwards(want int) float64 {
	b := *e.belief
	b.sizes = likelySizes{{comments: 1e9, probability: 1}}
	b.scanned, b.ratings, b.languages = b.scanned+typicalSample, b.ratings+typicalSample, b.languages+typicalSample
	then := *e // its firsts are empty yet
	then.belief, then.want, then.last, then.wave = &b, want, nil, thirdWavePrice
	best := math.Inf(1)
	for _, candidate := range e.covers {
		_, price := then.estimate(candidate.Cover)
		best = min(best, price)
	}
	return best
}

// typicalSample is the typical number of comments in a sample.
const typicalSample = 12

// mixture returns the cheapest cover of several indexes. It reads at most one rating across
// languages. The rest of each language is read either from the partition of the language or cell by
// cell. The filter must have languages and ratings.
func (e *estimator) mixture() Candidate {
	best := Candidate{Name: "mixture", Price: math.Inf(1)}
	var cover Cover
	filter := e.filter
	list := newSplitting(filter)
	for across := range len(e.filter.Ratings) + 1 {
		cover = cover[:0]
		rest := e.filter.Ratings
		if across > 0 {
			cover = append(cover, list.rating(rest[across-1]))
			rest = slices.Concat(rest[:across-1], rest[across:])
		}
		filter.Ratings = rest
		others := newSplitting(filter)
		for i := 0; i < len(e.filter.Languages) && len(rest) > 0; i++ {
			language, before := e.filter.Languages[i:i+1], len(cover)
			cover = others.addCells(append(cover, others.language(language[0])), language, rest)
			whole, cells := cover[before:before+1], cover[before+1:]
			_, price := e.estimate(whole)
			if _, priceOfCells := e.estimate(cells); price < priceOfCells {
				cover = cover[:before+1]
			} else {
				cover = append(cover[:before], cells...)
			}
		}
		units, price := e.estimate(cover)
		if len(cover) <= maxReads && price < best.Price {
			best.Cover, best.Units, best.Price = append(best.Cover[:0], cover...), units, price
		}
	}
	return best
}

// This file decides when comments of a list are found by rank. A list that is restricted to traits
// has no partitions of its own. If few comments have the traits, a read of a wider list pays for
// thousands that it drops. The index of page numbers knows the positions of the few.

// LookupPrice is the expected cost of finding a page by the index.
type LookupPrice struct {
	// Units are the read units of the lookup, Waves its waves, and Skip is how many comments then
	// remain to be skipped.
	Units, Waves, Skip float64
}

// RankPrice is the expected cost of finding comments of a list by rank.
type RankPrice struct {
	// Lookup is the price of one lookup.
	Lookup LookupPrice
	// Place is the cost of each place in the answer on top, in read units.
	Place float64
}

// byRankName is the name of the candidate that finds comments by rank.
const byRankName = "page numbers"

// candidate returns the candidate that finds comments by rank. A first lookup finds the rank of the
// starting place, unless reading starts at an end of the list.
func (p *RankPrice) candidate(r Request, e *estimator) Candidate {
	lookups := 1.0
	if !r.Window.atEnd() {
		lookups = 2
	}
	places := float64(r.Want)
	if e.belief == nil {
		places = float64(min(r.Want, e.matches))
	}
	each := p.Place + max(1, math.Ceil(e.Sizes.Any.Mean/layout.UnitBytes))/2
	c := Candidate{Name: byRankName, Units: lookups*p.Lookup.Units + places*each}
	c.Price = c.Units + lookups*p.Lookup.Waves*wavePrice
	return c
}

// through returns the price of reading the partitions of a cover until the request is met, however
// many calls that takes.
func (e *estimator) through(cover Cover) float64 {
	price, waves := 0.0, 1.0
	for i := range cover {
		s, _ := e.share(&cover[i])
		needed, _ := e.need(&cover[i], s)
		if e.belief == nil {
			needed = min(needed, float64(s.held))
		}
		scanned := int(math.Ceil(needed))
		price += e.Sizes.Of(cover[i].Partition).expected(max(1, scanned))
		waves = max(waves, math.Ceil(float64(scanned)/MaxLimit))
	}
	return price + (waves-1)*wavePrice
}
