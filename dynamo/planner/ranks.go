package planner

import (
	"math"

	"github.com/talkback/talkback/dynamo/layout"
)

// This file decides where comments of a list are found by their ranks. A list that is restricted to
// traits has no partitions of its own. If few comments have the traits, a read along a wider list
// pays for thousands that it drops. The index of page numbers knows where the few stand.

// LookupPrice is what an index is expected to take to find a page.
type LookupPrice struct {
	// Units are the read units that it consumes, Waves its waves, and Skip is how many comments are
	// left to be skipped.
	Units, Waves, Skip float64
}

// RankPrice is what it takes to find comments of a list by their ranks.
type RankPrice struct {
	// Lookup is the price of asking the index.
	Lookup LookupPrice
	// Place is what each place in the answer consumes on top, in read units.
	Place float64
}

// byRankName is the name of the candidate.
const byRankName = "page numbers"

// candidate is the way that takes comments by their ranks. The index is asked for the rank of a
// place first, unless the list is read from an end of it.
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

// through is the price of reading along the partitions of a cover until there is enough of the
// list, however many calls that takes.
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
