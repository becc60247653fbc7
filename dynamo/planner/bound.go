package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The estimates of this file do not depend on what is known of a product. The bound on what a page
// or a count may cost is a multiple of them.

// NarrowUnits is the cost in read units of reading want comments of a list, if no comment has more
// than 1 KB. It assumes partitions that hold nothing else but comments with other traits, of which
// there are as many as is likely.
func NarrowUnits(filter comment.Filter, want int) float64 {
	if filter.WithMedia != nil && *filter.WithMedia {
		filter.WithMedia = nil // they have an index
	}
	want = int(math.Ceil(float64(want) / likelyTraits(filter)))
	parts := narrowParts(filter)
	if inSteps(parts, want) {
		return unitsInSteps(parts, want)
	}
	return unitsAtOnce(parts, want)
}

// PageEstimate is what one page of a list may cost in read units, read from partitions that hold
// nothing else, and a share of what skipping the comments before it may, or finding them by their ranks.
// The filter must be normalized.
func PageEstimate(q comment.Query) float64 {
	var s Stretch
	want := s.Want(q.Slice.Size)
	units := ListUnits(q, want) + skipShare*SkipUnits(q)
	if mayRank(q) {
		units += rankShare * rankUnits(q, want)
	}
	return units
}

// ListUnits is the cost in read units of reading want comments of a list, link after link, as
// NarrowUnits. Each link may end before it brings anything.
func ListUnits(q comment.Query, want int) float64 {
	links := q.Order.Links(q.Filter)
	first := links[0].Filter
	return NarrowUnits(first, want) + float64(len(links)-1)*NarrowUnits(first, 1)
}

// CountEstimate is what it may cost to count a list within a range of dates, in read units. The
// filter must be normalized.
func CountEstimate(q comment.Query) float64 {
	list := Planner{Filter: q.Filter}
	list.Filter.CreatedAfter, list.Filter.CreatedBefore = nil, nil // no range is too short to be read
	reads := len(list.Count(q.Count).Reads)
	return float64(reads) * layout.EventualUnits(assumedCounted*layout.AssumedItemBytes/reads)
}

// assumedCounted is how many comments a counted range of dates is assumed to hold. Most products
// have fewer in all. A range of years of a product with thousands costs more than is estimated, up
// to the bound.
const assumedCounted = 400

// MaxSkip is how many comments are read and left out at most to get to a page by number. A list of
// at most MaxSkip comments needs no index.
const MaxSkip = 256

// skipShare is the part of the price of skipping comments that is in the estimate of a page. The
// bound of the page is BoundFactor (8) times the estimate: it has room for an attempt of half the
// price, and for up to twice the price after it.
const skipShare = 1.0 / 3

// SkipUnits is what reading the comments before a page by number may cost, as NarrowUnits.
func SkipUnits(q comment.Query) float64 {
	if q.Slice.Rank() == 0 {
		return 0
	}
	return ListUnits(q, min(q.Slice.Rank(), MaxSkip))
}

// LookupEstimate is the estimated cost of looking up places of a list in an index, in read units: the
// items that every lookup reads, and half of a leaf for each place, as neighbours share leaves. Of a
// chain, its counts are looked up first, and then places in each link that has some.
func LookupEstimate(q comment.Query, places int) float64 {
	lookups := 1
	if links := len(q.Order.Links(q.Filter)); links > 1 {
		lookups += min(links, places)
	}
	return float64(4*lookups + places)
}

// rankUnits is what taking comments of a list by their ranks may cost in read units, with what it takes
// to look beyond both ends of a page: two lookups for each, half as dear of each further link, and half a
// unit for each comment.
func rankUnits(q comment.Query, want int) float64 {
	lookup, links := LookupEstimate(q, 0), len(q.Order.Links(q.Filter))
	return 6*lookup + float64(links-1)*lookup + 1.5*float64(want)
}

// mayRank reports whether comments of a list may be found by their ranks. Those with pictures or videos,
// and without any other condition, have an index.
func mayRank(q comment.Query) bool {
	media := q.Filter.WithMedia != nil && *q.Filter.WithMedia
	return q.Filter.OfTraits() && (!media || q.Order.Keyed() || len(q.Filter.Conditions()) > 1)
}

// rankShare is the part of rankUnits that is in the estimate of a page. The bound of the page is
// BoundFactor (8) times the estimate, of which an attempt may have taken twice.
const rankShare = 1.0 / 4
