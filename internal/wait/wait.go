// Package wait waits no longer than a context lasts.
package wait

import (
	"context"
	"time"
)

// For waits for the duration. It returns the context's error if the context ends before, or has
// ended already.
//
// No timer is made for no time at all: under the race detector, Go 1.26 crashes now and then when
// a goroutine within testing/synctest selects a timer that has expired already.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Result calls f and returns its results. If the context ends before, Result returns the context's
// error; f then continues in its goroutine, and its results are dropped. It is for calls that know
// no context, such as opening a named pipe.
func Result[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
