package call

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/task"
)

// MaxAtOnce is how many calls Parallel makes at a time.
const MaxAtOnce = 16

// Parallel calls do for every i below number, at most MaxAtOnce at a time. The first error cancels
// the other calls and is returned. A panic of do becomes an error.
//
// The last call runs on the caller's goroutine. A call of the SDK is so deep that the stack of a
// new goroutine has to grow several times, which is the largest cost of our own in a page of one
// call.
func Parallel(ctx context.Context, number int, do func(ctx context.Context, i int) error) error {
	switch number {
	case 0:
		return nil
	case 1:
		return task.Guard(func() error { return do(ctx, 0) })
	}
	within, cancel := context.WithCancel(ctx) // another variable: one call takes no allocation for it
	defer cancel()
	var once sync.Once
	var first error
	one := func(i int) {
		if err := task.Guard(func() error { return do(within, i) }); err != nil {
			once.Do(func() { first = err })
			cancel()
		}
	}
	var group errgroup.Group
	group.SetLimit(MaxAtOnce - 1)
	for i := range number - 1 {
		group.Go(func() error { one(i); return nil })
	}
	one(number - 1)
	_ = group.Wait() // errors are in first
	return first
}
