// Package panics turns panics into errors.
package panics

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Error is a panic that was recovered. Its text leaves out the value, which may hold what customers
// wrote.
type Error struct {
	// Value is what the function panicked with.
	Value any
	// Stack is the stack of the goroutine, as debug.Stack formats it.
	Stack []byte
}

// Error says what failed at run time, such as an index out of range. Of any other value it says
// only the type.
func (e *Error) Error() string {
	if failure, ok := e.Value.(runtime.Error); ok {
		return "panic: " + failure.Error()
	}
	return fmt.Sprintf("panic with a %T", e.Value)
}

// Try calls f and returns its error. If f panics, the error is an *Error.
func Try(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Guarded returns a function that calls Guard with f.
func Guarded(f func() error) func() error { return func() error { return Guard(f) } }

// Guard calls f with panics turned into errors, whose text includes the stack. It is for functions
// that run on a goroutine of their own: a panic there would stop the process, because no HTTP server
// above recovers it.
func Guard(f func() error) error {
	err := Try(f)
	if panicked, ok := err.(*Error); ok {
		return fmt.Errorf("%w\n%s", panicked, panicked.Stack)
	}
	return err
}
