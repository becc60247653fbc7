package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
)

// A page of comments with a rare trait is found by rank. The index of page numbers returns the
// positions of the next comments, which are then fetched by id. The index follows the stream, so it
// may name a comment that is gone or has lost the trait. Such a comment is left out and the next
// one is fetched. The index may also lack a recent comment: so counts must be trusted, or a read
// along the list comes first.

// takeByRank takes the comments of a run by their ranks. If the index does not answer, it cuts the
// run short. Once the page has reached its cost bound, it begins no further call.
func (s *Store) takeByRank(ctx context.Context, r *run) error {
	list := pageindex.List{Product: r.plan.Product, Filter: r.plan.Filter, Order: comment.OldestFirst}
	list.Filter.CreatedAfter, list.Filter.CreatedBefore = nil, nil // they are bounds of the run
	from := &r.plan.Low.Position
	if r.plan.Descending {
		list.Order, from = comment.NewestFirst, &r.plan.High.Position
	}
	for len(r.taken) < r.plan.Want {
		if err := r.meter.Check(); err != nil {
			return err
		}
		next, err := pageindex.Next(ctx, s.options.PageNumbers, list, from, r.plan.Want-len(r.taken))
		r.lookups.Add(next.Cost)
		r.meter.Add(next.Cost.ReadUnits)
		if kind := comment.KindOf(err); ctx.Err() == nil && (kind == comment.Unavailable || kind == comment.Timeout) {
			r.cut, r.away = true, true
			return nil
		}
		if err != nil {
			return call.Wrap(err, "ranks of comments of product %q", r.plan.Product)
		}
		s.lookupPrices.learnPlaces(next.Cost, len(next.Positions))
		inside := slices.DeleteFunc(slices.Clone(next.Positions), func(p comment.Position) bool { return !r.plan.Spans(p) })
		for some := range slices.Chunk(inside, idsAtOnce) {
			if err := r.meter.Check(); err != nil {
				return err
			}
			before := r.fetches.units
			found, err := s.fetchByID(ctx, r, some, false)
			r.meter.Add(r.fetches.units - before)
			if err != nil {
				return err
			}
			for _, c := range found {
				if r.plan.Filter.Allows(c.Comment) {
					r.taken = append(r.taken, c)
				}
			}
		}
		slices.SortFunc(r.taken, func(a, b layout.Compressed) int { return r.compare(&a, &b) })
		if next.Ended || len(inside) < len(next.Positions) {
			return nil
		}
		if from = next.After(list.Order); from == nil {
			r.cut, r.away = true, true
			return nil
		}
	}
	return nil
}

// fetchByID fetches comments by their positions. Those that are in no list are left out.
func (s *Store) fetchByID(ctx context.Context, r *run, positions []comment.Position, consistent bool) ([]layout.Compressed, error) {
	r.waves++
	keys := make([]layout.Item, len(positions))
	for i, position := range positions {
		keys[i] = layout.CommentKey(comment.IDOf(position))
	}
	got, err := call.GetItems(ctx, s.client, s.table, types.KeysAndAttributes{
		Keys: keys, ConsistentRead: aws.Bool(consistent), ProjectionExpression: aws.String(projectionOf(r.plan) + "," + layout.AttrAll),
	})
	if err != nil {
		return nil, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(keys), "comment"))
	}
	if len(got.Left) > 0 {
		return nil, call.ErrBusy
	}
	r.fetches.keys, r.fetches.calls = r.fetches.keys+len(keys), r.fetches.calls+got.Calls
	r.fetches.items, r.fetches.units = r.fetches.items+len(got.Items), r.fetches.units+got.Units
	return r.decode(slices.DeleteFunc(got.Items, func(it layout.Item) bool { return !layout.Listed(it) }), new(read))
}
