package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// tallied runs a plan that counts: each of its reads to the end, all of them side by side. The first failure cancels the
// others and fails the count, which is never short without saying so.
func tallied(ctx context.Context, client querier, table string, plan Plan) (comment.Counted, *run) {
	r := newRun(client, table, plan)
	counted := comment.Counted{Err: together(ctx, len(plan.Reads), r.countAll)}
	for i, read := range plan.Reads {
		r.waves = max(r.waves, r.reads[i].queries)
		counted.Total += r.reads[i].kept
		if rating := read.Partition.Rating; rating > 0 {
			counted.ByRating[rating-1] += r.reads[i].kept
		}
	}
	return counted, r
}

// countAll counts what one read finds, which DynamoDB does 1 MB at a time.
func (r *run) countAll(ctx context.Context, number int) error {
	for {
		output, err := r.query(ctx, number)
		if err != nil || len(output.LastEvaluatedKey) == 0 {
			return err
		}
	}
}
