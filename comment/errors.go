package comment

import (
	"context"
	"errors"
	"fmt"
)

// Kind is what went wrong, as far as a caller can act on it.
type Kind int

// The kinds of errors: a closed list. What is none of these is Internal.
const (
	// Internal is a fault of ours. Its text is for the log only.
	Internal Kind = iota
	// BadInput is a request that no one can fulfil; its text names the cure.
	BadInput
	// BadCursor is a cursor that was cut or edited, or that belongs to another list.
	BadCursor
	// Throttled is a table that takes no more for now; the same request may succeed later.
	Throttled
	// Unavailable is a table that cannot be reached; the same request may succeed later.
	Unavailable
	// Timeout is an answer that took too long.
	Timeout
	// Canceled is a caller that no longer waits.
	Canceled
	// NotFound is a comment that is not there, or no longer.
	NotFound
	// Conflict is a change of a version that another change came before.
	Conflict
	// KeyReused is an idempotency key that was used for something else.
	KeyReused
	// Unauthenticated is a write without a proof of who wants it, or with one that does not hold.
	Unauthenticated
	// Forbidden is a write by someone who may not do it.
	Forbidden
	// TooMuchText is a read whose texts take more memory than one operation may have; its text names the cure.
	TooMuchText
	// TooCostly is a read that was stopped since it cost more than it may; its text names the cure.
	TooCostly
	// Overloaded is a service that holds as much as it can for now; the same request may succeed later.
	Overloaded
)

// Error is an error of a known kind with a text that may be shown to the caller.
type Error struct {
	// Kind is what went wrong.
	Kind Kind
	// Message is a sentence for people.
	Message string
	// Cause is the error underneath, nil if there is none. It is for the log only.
	Cause error
}

// Errorf makes an error of a kind; the text may be shown to the caller.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Error is the message followed by its cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf is the kind of an error: that of the first Error it wraps, else what the context package says, else Internal.
func KindOf(err error) Kind {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

// MessageOf is the text of an error that may be shown to the caller; empty when none may.
func MessageOf(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Message
	}
	return ""
}
