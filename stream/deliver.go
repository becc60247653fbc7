package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
)

// A record that fails on its own is tried this often before it is given up, with waits that double from the first.
const (
	recordTries     = 3
	recordFirstWait = 50 * time.Millisecond
)

// Failure is a record that no try could work off.
type Failure struct {
	// Record is the record; it holds what customers wrote.
	Record Record
	// Reason is what its error was, without its text, which may hold anything.
	Reason string
}

// Deliver hands records to a handler in their order. records[:done] were worked off, but for the failures among them. An
// error says that handing over should go on later, at records[done]: it is of a kind that may pass. When the handler fails
// for another reason, ever fewer records are handed over until the culprit stands alone, so that it alone is given up; a
// panic of the handler counts as such a reason.
func Deliver(ctx context.Context, handler Handler, records []Record) (failures []Failure, done int, err error) {
	size, tries := len(records), 0
	for done < len(records) {
		chunk := records[done:min(done+size, len(records))]
		err := try(ctx, handler, chunk)
		switch {
		case err == nil:
			done, size, tries = done+len(chunk), 2*size, 0
		case ctx.Err() != nil:
			return failures, done, ctx.Err()
		case passes(err):
			return failures, done, err
		case len(chunk) > 1:
			size = len(chunk) / 2
		case tries < recordTries-1:
			if err := pause(ctx, recordFirstWait<<tries); err != nil {
				return failures, done, err
			}
			tries++
		default:
			failures = append(failures, Failure{Record: chunk[0], Reason: reasonOf(err)})
			done, tries = done+1, 0
		}
	}
	return failures, done, nil
}

// passes tells whether the same records may be worked off later. A call to AWS that failed is hardly the fault of a record,
// unless AWS says that what was asked is not valid: a permission or a credential that is missing would else have everything
// given up.
func passes(err error) bool {
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout, comment.Canceled:
		return true
	}
	var call *smithy.OperationError
	var api smithy.APIError
	if !errors.As(err, &call) {
		return false
	}
	return !errors.As(err, &api) || api.ErrorCode() != "ValidationException" && api.ErrorCode() != "TransactionCanceledException"
}

// try makes an error of a panic.
func try(ctx context.Context, handler Handler, records []Record) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	return handler.Handle(ctx, records)
}

type panicError struct{ value any }

// Error does not say what the handler panicked with, which may be a piece of a comment.
func (e *panicError) Error() string { return fmt.Sprintf("panic with a %T", e.value) }

// reasonOf says of which sort an error is.
func reasonOf(err error) string {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return panicked.Error()
	}
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	return fmt.Sprintf("error of kind %d, %T", comment.KindOf(err), inner)
}

// pause waits, less if the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
