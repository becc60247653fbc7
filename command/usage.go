package command

import "fmt"

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // something could not be done, is not there, or is not as it should be
	exitUsage  = 2 // the command line itself is wrong: the same one can never succeed
)

// usageError is a command line that no one can follow.
type usageError struct{ err error }

// Error is the error underneath.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap gives the error underneath.
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usage error.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// usage makes a usage error of an error, if there is one.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}
