package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// withMoved adds comments of the filter that moved between partitions while a run read them.
func (s *Store) withMoved(ctx context.Context, r *run, filter comment.Filter, taken []layout.Compressed) ([]layout.Compressed, error) {
	moved := s.moves.of(r.plan.Product, s.now())
	if len(moved) == 0 {
		return taken, nil
	}
	absent := missing(r.plan, r.readAt, moved, filter, taken)
	if len(absent) == 0 {
		return taken, nil
	}
	found, err := s.lookUp(ctx, r, absent[:min(len(absent), maxLookups)])
	if err != nil {
		return nil, call.Wrap(err, "comments that were just edited")
	}
	found = slices.DeleteFunc(found, func(c layout.Compressed) bool { return !filter.Allows(c.Comment) })
	taken = append(taken, found...)
	slices.SortFunc(taken, func(a, b layout.Compressed) int { return r.compare(&a, &b) })
	return taken[:min(len(taken), r.plan.Want)], nil
}

// lookUp fetches comments by their positions, consistently. Those that do not exist are left out.
func (s *Store) lookUp(ctx context.Context, r *run, positions []comment.Position) ([]layout.Compressed, error) {
	r.lookups = metered{BatchGetter: s.client, keys: len(positions)}
	r.waves++
	keys := make([]layout.Item, len(positions))
	for i, position := range positions {
		keys[i] = layout.CommentKey(comment.IDOf(position))
	}
	got, err := call.GetItems(ctx, &r.lookups, s.table, types.KeysAndAttributes{
		Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(projectionOf(&r.plan) + "," + layout.AttrDeleted),
	})
	if err != nil {
		return nil, call.Wrap(err, "BatchGetItem of %d comments", len(keys))
	}
	if len(got.Left) > 0 {
		return nil, call.ErrBusy
	}
	return r.decode(slices.DeleteFunc(got.Items, layout.NoComment), &r.fetched)
}
