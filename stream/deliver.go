package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/internal/wait"
)

// A record that fails on its own is tried this often before it is given up, with waits that double from the first.
const (
	recordTries     = 3
	recordFirstWait = 50 * time.Millisecond
)

// Failure is a record that no try could process.
type Failure struct {
	// Record is the record; it holds what customers wrote.
	Record Record
	// Reason is what its error was, without its text, which may hold anything.
	Reason string
}

// RecordErrors is the error of a Handler that knows which records cannot be processed, and why, by their place among those
// that it was handed. All others were.
type RecordErrors map[int]error

// Error says how many there are, and what is wrong with the first.
func (e RecordErrors) Error() string {
	return fmt.Sprintf("%d records cannot be processed: %v", len(e), e[slices.Min(slices.Collect(maps.Keys(e)))])
}

// Deliver hands records to a handler in their order. records[:done] were processed, but for the failures among them. An
// error says that handing over should go on later, at records[done]: it is of a kind that may pass. Records that the handler
// names are handed over again, together, and then given up. When the handler fails for another reason, ever fewer records
// are handed over until the culprit stands alone, so that it alone is given up; a panic of the handler counts as such a reason.
func Deliver(ctx context.Context, handler Handler, records []Record) (failures []Failure, done int, err error) {
	for size := len(records); done < len(records); {
		chunk := records[done:min(done+size, len(records))]
		failed, err := deliverChunk(ctx, handler, chunk)
		switch {
		case err == nil:
			failures = append(failures, failed...)
			if done += len(chunk); len(failed) < len(chunk) {
				size *= 2
			}
		case ctx.Err() != nil:
			return failures, done, ctx.Err()
		case passes(err):
			return failures, done, err
		default:
			size = len(chunk) / 2
		}
	}
	return failures, done, nil
}

// deliverChunk hands records over, and those again that the handler names, or the only one, as often as they are to be tried. An
// error is of all the records.
func deliverChunk(ctx context.Context, handler Handler, records []Record) (failures []Failure, err error) {
	for tries := 1; ; tries++ {
		err := panics.Try(func() error { return handler.Handle(ctx, records) })
		var named RecordErrors
		switch {
		case err == nil:
			return nil, nil
		case ctx.Err() != nil:
			return nil, err
		case errors.As(err, &named):
		case passes(err) || len(records) > 1:
			return nil, err
		default:
			named = RecordErrors{0: err}
		}
		failures, records = named.of(records)
		if tries == recordTries {
			return failures, nil
		}
		if err := wait.For(ctx, recordFirstWait<<(tries-1)); err != nil {
			return nil, err
		}
	}
}

// of are the records that errors are about, in their order, with why each failed.
func (e RecordErrors) of(records []Record) (failures []Failure, failed []Record) {
	for _, i := range slices.Sorted(maps.Keys(e)) {
		failures = append(failures, Failure{Record: records[i], Reason: reasonOf(e[i])})
		failed = append(failed, records[i])
	}
	return failures, failed
}

// passes tells whether the same records may be processed later. A call to AWS that failed is hardly the fault of a record,
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

// reasonOf says of which sort an error is.
func reasonOf(err error) string {
	var panicked *panics.Error
	if errors.As(err, &panicked) {
		return panicked.Error()
	}
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	return fmt.Sprintf("error of kind %d, %T", comment.KindOf(err), inner)
}
