package planbench

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// rankedIndex is the index of page numbers of a product that never changes. Its lookups cost
// nothing, since their real cost depends on the store.
type rankedIndex struct{ *Product }

// Find implements pageindex.Index.
func (x rankedIndex) Find(_ context.Context, list pageindex.List, targets []pageindex.Target) (found pageindex.Found, err error) {
	numbers := x.listOf(list.Order, list.Filter)
	for _, number := range numbers {
		found.Counts.Add(x.comments[number].Cell(), 1)
	}
	for _, t := range targets {
		rank := min(t.Rank, len(numbers))
		if t.At != nil {
			rank = 0
			for rank < len(numbers) && list.Order.Compare(*comment.At(x.comments[numbers[rank]].ID.Position()), *comment.At(*t.At)) <= 0 {
				rank++
			}
		}
		b := pageindex.Boundary{Rank: rank}
		if rank > 0 {
			b.After = new(x.comments[numbers[rank-1]].ID.Position())
		}
		found.Boundaries = append(found.Boundaries, b)
	}
	return found, nil
}
