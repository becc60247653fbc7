package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/capacity"
)

// NarrowUnits is what the narrowest way to read so many comments costs, if none has more than 1 KB.
func NarrowUnits(filter comment.Filter, want int) float64 {
	parts := len(covers(filter)[0].Cover)
	if parts <= maxReads {
		return float64(parts) * capacity.AssumedUnits(min(want, MaxLimit))
	}
	// Each call but the first of a part looks at no more than twice what that part yielded before.
	return float64(parts)*capacity.AssumedUnits(capacity.ItemsPerHalfUnit) + 3*capacity.AssumedUnits(want)
}

// PageEstimate is what one page of a list may cost in read units, read from partitions that hold nothing else. Filters must be
// normalized.
func PageEstimate(q comment.Query) float64 {
	var w Window
	return NarrowUnits(q.Filter, w.Want(q.Slice.Size))
}

// CountEstimate is what counting a list within a range of dates may cost in read units.
func CountEstimate(q comment.Query) float64 {
	reads := undated(q).Count(q.Count).Reads
	return float64(len(reads)) * capacity.EventualUnits(assumedCounted*capacity.AssumedItemBytes/len(reads))
}

// undated plans a question as if nothing were known, of its product neither.
func undated(q comment.Query) Planner {
	return Planner{Filter: comment.Filter{Languages: q.Filter.Languages, Ratings: q.Filter.Ratings}}
}

// assumedCounted is how many comments a range of dates is assumed to hold when they are counted. That is more than most
// products ever have; of one that has thousands, a range of years costs more than is estimated, up to the bound.
const assumedCounted = 400
