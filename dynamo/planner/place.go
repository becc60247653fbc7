package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

const (
	// The read of the page itself skips up to maxSkipInPlace comments, if they take at most
	// maxBytesInPlace. Otherwise a wave before it reads them without their texts.
	maxSkipInPlace  = comment.MaxPageSize
	maxBytesInPlace = 64 << 10
)

// Placement says how a page by number is found.
type Placement struct {
	// By says whether the page is found by reading or by the index.
	By comment.PositionSource
	// FromEnd is whether reading starts at the end of the list.
	FromEnd bool
	// Skip is how many comments are read and left out before the page.
	Skip int
	// Size is how many comments are shown at most. With FromEnd, it is lower for the last page, and
	// 0 for a page beyond it.
	Size int
}

// Placing has the inputs of the choice of a Placement.
type Placing struct {
	// Rank is how many comments come before the page, and Size is how many it has at most.
	Rank, Size int
	// Total is how many comments the list has; -1 if that is not known exactly.
	Total int
	// MostSkip is how many comments may be read and left out.
	MostSkip int
	// Small is whether the list is known to have at most MaxSkip comments.
	Small bool
	// Lookup is the price of finding the page by the index, in read units. Through returns the
	// price of reading comments from either end.
	Lookup  float64
	Through func(comments int) float64
}

// Choose returns the placement with the lowest price. Among equals it reads from the start, which
// needs no knowledge.
func (p Placing) Choose() Placement {
	best, price := Placement{By: comment.ByIndex, Size: p.Size}, p.Lookup
	read := func(candidate Placement) {
		candidate.By = comment.ByReading
		if candidate.Skip > p.MostSkip {
			return
		}
		through := p.Through(candidate.Skip + candidate.Size + 1)
		if through <= price || p.Small && best.By == comment.ByIndex {
			best, price = candidate, through
		}
	}
	if p.Total >= 0 {
		read(Placement{
			FromEnd: true, Skip: max(0, p.Total-p.Rank-p.Size), Size: min(max(0, p.Total-p.Rank), p.Size),
		})
	}
	read(Placement{Skip: p.Rank, Size: p.Size})
	return best
}

// Place decides how a page by number is found.
func (p *Planner) Place(q comment.Query, lookup LookupPrice) Placement {
	rank := q.Slice.Rank()
	if rank == 0 {
		return Placement{By: comment.ByReading, Size: q.Slice.Size}
	}
	placing := Placing{Rank: rank, Size: q.Slice.Size, Total: p.total(), MostSkip: p.MostSkip(), Through: func(n int) float64 { return p.through(q, n) }}
	placing.Lookup = lookup.Units + lookup.Waves*wavePrice + p.through(q, q.Slice.Size+1+int(lookup.Skip))
	if q.Order == comment.MostHelpful && rank > comment.MaxVotedRank && rank < p.Known.Stats.AtMost(q.Order.Links(p.Filter)[0].Filter).Total() {
		placing.Lookup = math.Inf(1) // the index does not reach that far
	}
	placing.Small = !p.RanksHelp() && p.Known.Stats != nil && p.Known.Stats.AtMost(p.Filter).Total() <= MaxSkip
	return placing.Choose()
}

// total returns how many comments the list has; -1 if that is not known exactly.
func (p *Planner) total() int {
	if stats := p.Exactly(); stats != nil {
		return stats.Counts(p.Filter).Total()
	}
	return -1
}

// Exactly returns statistics that have the exact number of comments of the list, nil if there are
// none. Counts that are too old to skip partitions are too old for this.
func (p *Planner) Exactly() comment.Stats {
	stats := p.Known.Stats
	switch {
	case !p.Known.Trusted || !p.Filter.Counted() || len(stats.Others(p.Filter.Languages)) > 0:
		return nil
	case stats == nil:
		return comment.Stats{}
	}
	return stats
}

// Ranked returns the order in which places of a query's list are looked up. If the list is known to
// have no comment with helpful votes, that is the order of dates.
func (p *Planner) Ranked(q comment.Query) comment.Order {
	voted := func(at *comment.Place) bool { return at != nil && at.Key > 0 }
	if q.Order == comment.MostHelpful && !voted(q.Slice.After) && !voted(q.Slice.Before) && p.Known.empty(q.Order.Links(q.Filter)[0].Filter) {
		return comment.NewestFirst
	}
	return q.Order
}

// Total returns how many comments the list has by the statistics, however old; 0 if unknown.
func (p *Planner) Total() int {
	if !p.Filter.Counted() {
		return 0
	}
	return max(0, p.Known.Stats.Counts(p.Filter).Total())
}

// through returns the price of reading comments from an end of the list.
func (p *Planner) through(q comment.Query, comments int) float64 {
	price := 0.0
	if SkipApart(comments-q.Slice.Size-1, p.Known.Sizes) {
		price = wavePrice
	}
	if scattered(q.Order.Links(p.Filter)) { // others are read between its comments
		comments *= othersBetween
	}
	return price + p.price(comments)
}

// SkipApart reports whether a separate read skips the comments before the page: if they are many or
// large.
func SkipApart(skip int, sizes Sizes) bool {
	return skip > maxSkipInPlace || float64(skip)*sizes.Any.Mean > maxBytesInPlace
}

// Expected returns the read units that a page of a known product is expected to consume, by index:
// those of the first calls of its plan. For a page by number it includes the lookup and the skipped
// comments. The filter must be normalized.
func Expected(known Knowledge, q comment.Query, lookup LookupPrice) layout.Units {
	p := Planner{Filter: q.Filter, Known: known}
	place := p.Place(q, lookup)
	units := layout.Units{}
	if place.By == comment.ByIndex {
		units[layout.InTable] = lookup.Units
		place.Skip = int(lookup.Skip)
	}
	q.Slice = comment.Slice{Size: place.Size, After: q.Slice.After, FromEnd: place.FromEnd}
	stretch := StretchOf(q).Skipping(place.Skip)
	if SkipApart(place.Skip, known.Sizes) {
		units.Add(p.expected(stretch, stretch.WantSkipped()), 1)
		stretch = stretch.From(comment.Place{})
	}
	units.Add(p.expected(stretch, stretch.Want(place.Size)), 1)
	return units
}

// expected returns the units of the first calls for some comments of a stretch.
func (p *Planner) expected(s Stretch, want int) layout.Units {
	units := layout.Units{}
	plan := p.Take(Request{Window: s.Window(s.Links[0]), Purpose: comment.ReadPage, Want: want, Skip: s.Skip()})
	for i := range plan.Chosen.Cover {
		part := &plan.Chosen.Cover[i]
		if s, none := plan.estimator.share(part); !none || !plan.estimator.Trusted {
			units[part.Index] += plan.estimator.first(part, s).units
		}
	}
	return units
}
