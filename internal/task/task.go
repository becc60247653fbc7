// Package task protects callers from functions: it turns panics into errors, bounds waits by
// contexts, and caches results.
package task

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is a recovered panic. Its text does not contain the value, which may contain texts of
// customers.
type Panic struct {
	// Value is the value passed to panic.
	Value any
	// Stack is the stack of the goroutine, as debug.Stack formats it.
	Stack []byte
}

// Error returns the text of a run-time error, such as an index out of range. Of any other value it
// returns only the type.
func (e *Panic) Error() string {
	if failure, ok := e.Value.(runtime.Error); ok {
		return "panic: " + failure.Error()
	}
	return fmt.Sprintf("panic with a %T", e.Value)
}

// Try calls f and returns its error. If f panics, the error is a *Panic.
func Try(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Guarded returns a function that calls Guard with f.
func Guarded(f func() error) func() error { return func() error { return Guard(f) } }

// Guard calls f and turns a panic into an error whose text includes the stack. Use it for functions
// in their own goroutine: a panic there would end the process, because no HTTP server recovers it.
func Guard(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// Recover turns a panic into an error, as Guard does. Defer it with the address of the function's
// error.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = Panicked(value)
	}
}

// Panicked returns the error of Guard for a value that was recovered from a panic. Call it while
// the panic is being handled, so that the stack shows where it began.
func Panicked(value any) error {
	panicked := &Panic{Value: value, Stack: debug.Stack()}
	return fmt.Errorf("%w\n%s", panicked, panicked.Stack)
}

// Wait waits for a duration. It returns the context's error if the context ends first, or has ended
// already.
//
// For a duration of 0 it makes no timer: under the race detector, Go 1.26 sometimes crashes when a
// goroutine in testing/synctest selects a timer that has already expired.
func Wait(ctx context.Context, d time.Duration) error {
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

// Await calls f and returns its results. If the context ends first, Await returns the context's
// error; f continues in its goroutine, and its results are dropped. Use it for calls without a
// context, such as opening a named pipe.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
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

// Beside runs a task while work runs, and returns the error of work once both have ended. The
// context of the task ends with work.
func Beside(ctx context.Context, run func(context.Context), work func(context.Context) error) error {
	beside, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { run(beside) })
	defer running.Wait()
	defer stop()
	return work(ctx)
}
