package pageindex

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// Neighbours are consecutive comments of a list.
type Neighbours struct {
	// Positions are the comments' positions, in the order of the list.
	Positions []comment.Position
	// Ended reports that the list ends with them.
	Ended bool
	Cost  Cost
}

// After returns the position to continue from, nil if there is none.
func (p Neighbours) After(order comment.Order) *comment.Position {
	if len(p.Positions) == 0 {
		return nil
	}
	last := p.Positions[len(p.Positions)-1]
	switch {
	case order.Descends() && last != comment.Position{}:
		return new(last.Previous())
	case !order.Descends() && last != comment.MaxPosition:
		return new(last.Next())
	}
	return nil
}

// nextTries is how often Next starts over because comments before its start were deleted.
const nextTries = 4

// Next finds the next n comments of a list by date, from a position on; nil is the beginning of the
// list. While comments are added in front of that position it may find fewer, even none: call it
// again from the last one on. It does not read comments outside the list.
func Next(ctx context.Context, index Index, list List, from *comment.Position, n int) (Neighbours, error) {
	var out Neighbours
	var before *comment.Position // the last position before from, nil if there is none
	switch descends := list.Order.Descends(); {
	case from == nil, descends && *from == comment.MaxPosition, !descends && *from == comment.Position{}:
	case descends:
		before = new(from.Next())
	default:
		before = new(from.Previous())
	}
	for range nextTries {
		rank, left := 0, n
		if before != nil {
			found, err := index.Find(ctx, list, []Target{{At: before}})
			out.Cost.Add(found.Cost)
			if err != nil {
				return out, err
			}
			rank = found.Boundaries[0].Rank
			if left = min(n, found.Counts.Total()-rank); left <= 0 {
				out.Ended = true
				return out, nil
			}
		}
		if complete, err := out.from(ctx, index, list, from, rank, left); complete || err != nil {
			return out, err
		}
	}
	return out, comment.Errorf(comment.Unavailable, "the comments of product %q change too quickly to find them by their ranks: ask again in a moment", list.Product)
}

// from looks up n comments from a rank on, and the one before them. If that one does not precede
// the position, comments were deleted since the rank was found: the next ones are unknown, and it
// returns false.
func (p *Neighbours) from(ctx context.Context, index Index, list List, from *comment.Position, rank, n int) (complete bool, err error) {
	var targets []Target
	for r := max(rank, 1); r <= rank+n; r++ {
		targets = append(targets, Target{Rank: r, Exact: true, AtComment: true})
	}
	found, err := index.Find(ctx, list, targets)
	p.Cost.Add(found.Cost)
	if err != nil {
		return false, err
	}
	for i, b := range found.Boundaries {
		switch {
		case b.Rank < targets[i].Rank:
			p.Ended = i > 0 || rank == 0
			return p.Ended, nil
		case from != nil && list.Order.Compare(*comment.At(*b.After), *comment.At(*from)) < 0:
		case targets[i].Rank == rank:
			return false, nil
		default:
			p.Positions = append(p.Positions, *b.After)
		}
	}
	return true, nil
}
