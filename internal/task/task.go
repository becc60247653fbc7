// Package task bounds what functions can do to their callers: a panic becomes an error, and no wait
// lasts longer than its context.
package task

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is a panic that was recovered. Its text leaves out the value, which may hold what customers
// wrote.
type Panic struct {
	// Value is what the function panicked with.
	Value any
	// Stack is the stack of the goroutine, as debug.Stack formats it.
	Stack []byte
}

// Error says what failed at run time, such as an index out of range. Of any other value it says
// only the type.
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

// Guard calls f with panics turned into errors, whose text includes the stack. It is for functions
// that run on a goroutine of their own: a panic there would stop the process, because no HTTP server
// above recovers it.
func Guard(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// Recover turns a panic into an error, as Guard does. A function defers it with the address of its
// error.
func Recover(err *error) {
	if value := recover(); value != nil {
		panicked := &Panic{Value: value, Stack: debug.Stack()}
		*err = fmt.Errorf("%w\n%s", panicked, panicked.Stack)
	}
}

// Wait waits for the duration. It returns the context's error if the context ends before, or has
// ended already.
//
// No timer is made for no time at all: under the race detector, Go 1.26 crashes now and then when
// a goroutine within testing/synctest selects a timer that has expired already.
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

// Await calls f and returns its results. If the context ends before, Await returns the context's
// error; f then continues in its goroutine, and its results are dropped. It is for calls that know
// no context, such as opening a named pipe.
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

// Beside runs a task while the work goes on, and returns the error of the work once both have ended.
// The context of the task ends with the work.
func Beside(ctx context.Context, run func(context.Context), work func(context.Context) error) error {
	beside, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { run(beside) })
	defer running.Wait()
	defer stop()
	return work(ctx)
}
