package comment

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the kind of an error, as far as a caller can act on it.
type Kind int

// The kinds of errors: a closed list. Any other error is Internal. A new one gets its code in
// resolvers/errors.go, and if it is a problem of the input of a mutation, in auth/authoring.go.
const (
	Internal        Kind = iota // a fault of ours; its text is for the log only
	BadInput                    // a request that can never succeed; the message says what to change
	BadCursor                   // a cursor that was cut or edited, or that belongs to another list
	Throttled                   // a table that accepts no more requests for now; the same request may succeed later
	Unavailable                 // a table that cannot be reached; the same request may succeed later
	Timeout                     // an answer that took too long
	Canceled                    // a caller that no longer waits
	NotFound                    // a comment that does not exist, or was deleted
	Conflict                    // a change of a version that another change has already replaced
	KeyReused                   // an idempotency key that was used for something else
	AlreadyWritten              // a second comment of a customer about a product, where each has one
	Unauthenticated             // a write without a token, or with an invalid one
	Forbidden                   // a write that the caller may not make
	TooMuchText                 // a read whose texts need more memory than one operation may have; the message says what to do
	TooCostly                   // a read that was stopped at its cost bound; the message says what to do
	Overloaded                  // a service without memory for now, or too many requests for one product; the same may succeed later
)

// Error is an error of a known kind, with a message that may be shown to the caller.
type Error struct {
	Kind Kind
	// Message is a sentence for people.
	Message string
	// Earlier is the ID of the comment that the customer already has. Only AlreadyWritten sets it.
	Earlier string
	// Cause is the underlying error, nil if there is none. It is for the log only.
	Cause error
}

// Errorf returns an error of a kind. The message may be shown to the caller.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// refuse returns a BadInput error if something is wrong.
func refuse(wrong bool, format string, args ...any) error {
	if wrong {
		return Errorf(BadInput, format, args...)
	}
	return nil
}

// Error returns the message followed by the cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of an error: that of the first Error it wraps, else the one for an error
// of package context, else Internal.
func KindOf(err error) Kind {
	known, ok := errors.AsType[*Error](err)
	switch {
	case ok:
		return known.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

// ErrImproper is the cause of an error about a stored item that is no proper comment.
var ErrImproper = errors.New("the item is not a valid comment")

// MessageOf returns the message of an error that may be shown to the caller, empty if there is
// none.
func MessageOf(err error) string {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Message
	}
	return ""
}
