package call

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// MaxAtOnce bounds the parallel calls of one plan.
const MaxAtOnce = 16

// Parallel does a number of things in parallel, at most MaxAtOnce at a time. The first that fails cancels the others,
// and its error is returned. The last is done by the caller's own goroutine: what is done is calls of the SDK, for whose
// depth the stack of a new goroutine has to grow several times. That costs more than anything else of ours on a page that
// takes one call.
func Parallel(ctx context.Context, number int, do func(ctx context.Context, i int) error) error {
	switch number {
	case 0:
		return nil
	case 1:
		return Recover(func() error { return do(ctx, 0) })()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	var first error
	one := func(i int) {
		if err := Recover(func() error { return do(ctx, i) })(); err != nil {
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
	_ = group.Wait() // one keeps the errors
	return first
}

// Recover turns a panic of f into an error: the goroutines of a group are ours, and no one else would catch it before
// it stopped the process.
func Recover(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		return f()
	}
}
