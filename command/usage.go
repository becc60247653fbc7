package command

import "fmt"

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // something failed, is missing, or is wrong
	exitUsage  = 2 // the command line is invalid: it can never succeed
	exitExists = 3 // a file of rejected rows exists, and holds others
)

// usageError is an error in the command line.
type usageError struct{ err error }

// Error returns the text of the underlying error.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the underlying error.
func (e *usageError) Unwrap() error { return e.err }

// usagef formats a usage error.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// usage turns an error into a usage error, and leaves nil as it is.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}
