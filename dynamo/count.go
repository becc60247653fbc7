package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// tallied runs a plan that counts: each of its reads to the end, all of them side by side. The first failure cancels the
// others and fails the count, which is never short without saying so. So does the bound, unless the meter is nil.
func tallied(ctx context.Context, client querier, table string, plan Plan, m *meter) (comment.Counted, *run) {
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
		limit, err := r.meter.countLimit(len(unread))
		if err != nil {
			return err
		}
		for i := range unread {
			r.reads[unread[i]].limit = limit
		}
		r.waves++
		if err := together(ctx, len(unread), func(ctx context.Context, i int) error {
			_, err := r.query(ctx, unread[i])
			return err
		}); err != nil {
			return err
		}
	}
}

// countLimit is how many items each of so many calls may look at, so that they stay within the bound if no comment has more
// than 1 KB; 0 for no limit.
func (m *meter) countLimit(calls int) (int, error) {
	if m == nil {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := itemsWithin(m.most()-m.spent, calls)
	if limit < leastCounted {
		return 0, m.refusal()
	}
	return limit, nil
}

// leastCounted is how many items a call that counts has to be allowed. With less, the last few of many would take ever more
// and ever smaller calls.
const leastCounted = 32
