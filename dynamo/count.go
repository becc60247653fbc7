package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// counting counts a list beside its page: each of its reads to the end, all of them side by side.
// The first failure cancels the others and fails the count, which is never short without saying so.
type counting struct {
	run *run
	err error
}

// countCure is what to ask for instead of a count that met its bound.
const countCure = "choose a shorter range of dates, or leave out totalCount and stats"

func (s *Store) newCounting(ctx context.Context, q comment.Query, known planner.Knowledge) *counting {
	p := planner.Planner{Product: q.Product, Filter: q.Filter, Known: known}
	return &counting{run: s.newRun(ctx, layout.NewMeter(planner.CountEstimate(q), countCure), p.Count(q.Count))}
}

// execute counts. Its error is nil: a count that fails leaves the page as it is.
func (c *counting) execute(ctx context.Context) error {
	c.err = call.Wrap(c.run.countAll(ctx), "count of comments of product %q", c.run.plan.Product)
	return nil
}

// result is what was counted, nil when there is nothing to count.
func (c *counting) result() *comment.Counted {
	if c == nil {
		return nil
	}
	counted := comment.Counted{Err: c.err}
	for i := range c.run.reads {
		read := &c.run.reads[i]
		counted.Total += read.returned
		if rating := read.Partition.Rating; rating > 0 {
			counted.ByRating[rating-1] += read.returned
		}
	}
	return &counted
}

// countAll counts wave by wave: DynamoDB counts up to 1 MB a call, and each wave stays within what
// the bound has left.
func (r *run) countAll(ctx context.Context) error {
	for {
		var unread []*read
		for i := range r.reads {
			if one := &r.reads[i]; one.queries == 0 || len(one.start) > 0 {
				unread = append(unread, one)
			}
		}
		if len(unread) == 0 {
			return nil
		}
		limit, err := r.meter.CountLimit(len(unread))
		if err != nil {
			return err
		}
		for _, one := range unread {
			one.limit = limit
		}
		if err := r.countWave(ctx, unread); err != nil {
			return err
		}
	}
}

// countWave makes a call for each of some reads, in parallel.
func (r *run) countWave(ctx context.Context, reads []*read) error {
	ctx, span := r.observe(ctx, len(reads))
	defer span.End()
	return call.Parallel(ctx, len(reads), func(ctx context.Context, i int) error {
		_, err := r.query(ctx, reads[i]) // a count brings no items
		return err
	})
}
