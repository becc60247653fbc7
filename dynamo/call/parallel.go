package call

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/task"
)

// MaxAtOnce is how many calls Parallel makes at a time.
const MaxAtOnce = 16

// Parallel calls do for every i below number, at most MaxAtOnce at a time. The first error cancels
// the other calls and is returned. A panic of do becomes an error.
//
// A single call runs on the caller's goroutine: calls of the SDK are so deep that the stack of a new
// one would have to grow several times.
func Parallel(ctx context.Context, number int, do func(ctx context.Context, i int) error) (err error) {
	if number == 1 {
		defer task.Recover(&err)
		return do(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(MaxAtOnce)
	for i := range number {
		group.Go(task.Guarded(func() error { return do(ctx, i) }))
	}
	return group.Wait()
}
