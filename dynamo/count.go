package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/planner"
)

// tallied runs a plan that counts: each of its reads to the end, all of them side by side. The first failure cancels the
// others and fails the count, which is never short without saying so. So does the bound, unless the meter is nil.
func tallied(ctx context.Context, client call.Querier, table string, plan planner.Plan, m *capacity.Meter) (comment.Counted, *run) {
	r := newRun(client, table, plan)
	r.meter = m
	counted := comment.Counted{Err: r.countAll(ctx)}
	for i, read := range plan.Reads {
		counted.Total += r.reads[i].kept
		if rating := read.Partition.Rating; rating > 0 {
			counted.ByRating[rating-1] += r.reads[i].kept
		}
	}
	return counted, r
}

// countAll counts what the reads find, wave by wave: DynamoDB counts up to 1 MB at a time, and no more than the bound has
// left.
func (r *run) countAll(ctx context.Context) error {
	for {
		var unread []int
		for i, state := range r.reads {
			if state.queries == 0 || len(state.start) > 0 {
				unread = append(unread, i)
			}
		}
		if len(unread) == 0 {
			return nil
		}
		limit, err := r.meter.CountLimit(len(unread))
		if err != nil {
			return err
		}
		for i := range unread {
			r.reads[unread[i]].limit = limit
		}
		r.waves++
		if err := call.Parallel(ctx, len(unread), func(ctx context.Context, i int) error {
			_, err := r.query(ctx, unread[i])
			return err
		}); err != nil {
			return err
		}
	}
}
