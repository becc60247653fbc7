package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
)

const (
	// maxSkipInPlace is how many are left out of the read of the page itself, if they take at most
	// maxBytesInPlace. Otherwise they are read before it without their texts, in a wave of their own.
	maxSkipInPlace  = comment.MaxPageSize
	maxBytesInPlace = 64 << 10
)

// Placement says how a page by number is found.
type Placement struct {
	// By is the way: by reading, or by the index.
	By comment.PositionSource
	// FromEnd says that reading starts at the end of the list.
	FromEnd bool
	// Skip is how many comments are left out first.
	Skip int
	// Size is how many comments are shown at most. From the end, the last page may have fewer than
	// the others, and a page beyond it has none.
	Size int
}

// Placing is what a placement depends on.
type Placing struct {
	// Rank is how many comments come before the page, Size how many it has at most.
	Rank, Size int
	// Total is how many comments the list has; -1 if that is not known well enough to count from the
	// end.
	Total int
	// Small says that the list is known to have at most MaxSkip comments.
	Small bool
	// Lookup is the price of finding the page by the index, in read units. Through is that of
	// reading comments from either end.
	Lookup  float64
	Through func(comments int) float64
}

// Choose returns the placement with the lowest price: from the start among equals, because nothing
// has to be known for that.
func (p Placing) Choose() Placement {
	best, price := Placement{By: comment.ByIndex, Size: p.Size}, p.Lookup
	read := func(candidate Placement) {
		candidate.By = comment.ByReading
		if candidate.Skip > MaxSkip {
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
	placing := Placing{Rank: rank, Size: q.Slice.Size, Total: p.total(), Through: func(n int) float64 { return p.through(q, n) }}
	placing.Lookup = lookup.Units + lookup.Waves*wavePrice + p.through(q, q.Slice.Size+1+int(lookup.Skip))
	if q.Order == comment.MostHelpful && rank > comment.MaxVotedRank && rank < p.Known.Stats.AtMost(q.Order.Links(p.Filter)[0].Filter).Total() {
		placing.Lookup = math.Inf(1) // it does not reach that far
	}
	placing.Small = !p.RanksHelp() && p.Known.Stats != nil && p.Known.Stats.AtMost(p.Filter).Total() <= MaxSkip
	return placing.Choose()
}

// total is how many comments the list has, -1 if that is not known.
func (p *Planner) total() int {
	if stats := p.Exactly(); stats != nil {
		return stats.Counts(p.Filter).Total()
	}
	return -1
}

// Exactly returns statistics that tell how many comments the list has, nil if that is not known.
// Counts that are too old to skip partitions by are too old for this.
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

// Ranked is the order by which places of a query's list are looked up. If no comment of the
// list has helpful votes, it is in the order of dates.
func (p *Planner) Ranked(q comment.Query) comment.Order {
	voted := func(at *comment.Place) bool { return at != nil && at.Key > 0 }
	if q.Order == comment.MostHelpful && !voted(q.Slice.After) && !voted(q.Slice.Before) && p.Known.empty(q.Order.Links(q.Filter)[0].Filter) {
		return comment.NewestFirst
	}
	return q.Order
}

// Total is how many comments the list is believed to have, 0 if nothing is believed.
func (p *Planner) Total() int {
	if !p.Filter.Counted() {
		return 0
	}
	return max(0, p.Known.Stats.Counts(p.Filter).Total())
}

// through is the price of reading comments from an end of the list.
func (p *Planner) through(q comment.Query, comments int) float64 {
	price := 0.0
	if SkipApart(comments-q.Slice.Size-1, p.Known.Sizes) {
		price = wavePrice
	}
	return price + p.price(comments)
}

// SkipApart reports whether a read of its own skips the comments before the page. It does so for
// many comments and for large ones.
func SkipApart(skip int, sizes Sizes) bool {
	return skip > maxSkipInPlace || float64(skip)*sizes.Any.Mean > maxBytesInPlace
}
