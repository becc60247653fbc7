package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ExistsError is the refusal to replace a file.
type ExistsError struct{ name string }

// Error names the file and the cure.
func (e *ExistsError) Error() string {
	return Printable(e.name) + " exists: give another name, or --force to write over it"
}

// Error is the failure to write a file.
type Error struct {
	name string
	err  error
}

// Error names the file, the cause and the cure.
func (e *Error) Error() string {
	name := Printable(e.name)
	switch cause := e.Cause(); {
	case errors.Is(e.err, syscall.EPIPE), errors.Is(e.err, io.ErrClosedPipe):
		return fmt.Sprintf("the reader of %s has gone: what was written is incomplete", name)
	case errors.Is(e.err, syscall.ENOSPC):
		return fmt.Sprintf("%s cannot be written (%v): make room, or name a file on another disk", name, cause)
	default:
		return fmt.Sprintf("%s cannot be written (%v): name another file", name, cause)
	}
}

// Cause returns the reason without the operation and its paths.
func (e *Error) Cause() error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(e.err, &path):
		return path.Err
	case errors.As(e.err, &link):
		return link.Err
	}
	return e.err
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.err }
