package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// For takes exactly the duration, or less if the context ends before.
func TestFor(t *testing.T) {
	for _, row := range []struct {
		why           string
		timeout, wait time.Duration
		took          time.Duration
		err           error
	}{
		{"the context lasts", time.Minute, time.Second, time.Second, nil},
		{"the context ends", time.Second, time.Minute, time.Second, context.DeadlineExceeded},
		{"the context has ended", 0, time.Minute, 0, context.DeadlineExceeded},
		{"no time at all", time.Minute, 0, 0, nil},
		{"no time at all, after the end", 0, 0, 0, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), row.timeout)
			defer cancel()
			began := time.Now()
			err := task.Wait(ctx, row.wait)
			if took := time.Since(began); took != row.took || !errors.Is(err, row.err) {
				t.Errorf("%s: it took %s and returned %v, want %s and %v", row.why, took, err, row.took, row.err)
			}
		})
	}
}

// Result returns what the function returns, and leaves it behind when the context ends.
func TestResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		if value, err := task.Await(t.Context(), func() (int, error) { return 7, broken }); value != 7 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", value, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pipe := make(chan int)
		value, err := task.Await(ctx, func() (int, error) { return <-pipe, nil })
		if value != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d, %v", value, err)
		}
		pipe <- 7 // the function is left behind, and ends without anyone who receives its result
	})
}
