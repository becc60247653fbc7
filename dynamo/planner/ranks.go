package planner

import (
	"math"

	"github.com/talkback/talkback/dynamo/layout"
)

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
