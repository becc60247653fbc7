package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/capacity"
)

// The estimates of this file do not depend on what is known of a product. The bound on what a page
// or a count may cost is a multiple of them.

// NarrowUnits is what it costs to read so many comments of a list from partitions that hold nothing
// else, in read units, if no comment has more than 1 KB.
func NarrowUnits(filter comment.Filter, want int) float64 {
	parts := len(covers(filter)[0].Cover)
	if parts <= maxReads {
		return float64(parts) * capacity.AssumedUnits(min(want, MaxLimit))
	}
	// Each call of a partition but the first scans at most twice what the call before returned.
	return float64(parts)*capacity.AssumedUnits(capacity.ItemsPerHalfUnit) + 3*capacity.AssumedUnits(want)
}

// PageEstimate is what one page of a list may cost in read units, read from partitions that hold
// nothing else. The filter must be normalized.
func PageEstimate(q comment.Query) float64 {
	var w Window
	return NarrowUnits(q.Filter, w.Want(q.Slice.Size))
}

// CountEstimate is what it may cost to count a list within a range of dates, in read units. The
// filter must be normalized.
func CountEstimate(q comment.Query) float64 {
	list := Planner{Filter: comment.Filter{Languages: q.Filter.Languages, Ratings: q.Filter.Ratings}}
	reads := len(list.Count(q.Count).Reads)
	return float64(reads) * capacity.EventualUnits(assumedCounted*capacity.AssumedItemBytes/reads)
}

// assumedCounted is how many comments a counted range of dates is assumed to hold. Most products
// have fewer in all. A range of years of a product with thousands costs more than is estimated, up
// to the bound.
const assumedCounted = 400
