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
	"github.com/talkback/talkback/internal/task"
)

// Retries of a record that fails on its own: how many tries it gets, and the first wait, which
// doubles.
const (
	recordTries     = 3
	recordFirstWait = 50 * time.Millisecond
)

// Failure is a record that failed in every try.
type Failure struct {
	// Record is the record. It contains what customers wrote.
	Record Record
	// Reason is the type of its error. The error's text is left out, since it may contain anything.
	Reason string
}

// RecordErrors is the error of a Handler that knows which records were not processed. It maps their
// indices among the records handed over to the reasons. All other records were processed. A record
// whose reason may pass waits, without holding up the others: it is handed over again later, before
// the records that follow it.
type RecordErrors map[int]error

// Error returns how many records failed, and why the first did.
func (e RecordErrors) Error() string {
	return fmt.Sprintf("%d records were not processed: %v", len(e), e[e.first()])
}

// Unwrap returns why the first failed.
func (e RecordErrors) Unwrap() error { return e[e.first()] }

func (e RecordErrors) first() int { return slices.Min(slices.Collect(maps.Keys(e))) }

// Deliver hands records to a handler in their order. On return, records[:done] are processed,
// except for the failures among them. An error means that delivery should continue later at
// records[done]; its kind is one that may pass. If it is a RecordErrors, it names the records that
// wait, and all others are processed.
//
// Records that the handler calls impossible in a RecordErrors are handed over again together, and
// dead-lettered after the last try. For any other reason to fail, Deliver hands over ever fewer
// records until the culprit is alone, so that only the culprit becomes a failure. A panic of the
// handler is such a reason.
func Deliver(ctx context.Context, handler Handler, records []Record) (failures []Failure, done int, err error) {
	waiting := RecordErrors{}
	defer func() {
		if len(waiting) > 0 {
			done = waiting.first()
		}
	}()
	for size := len(records); done < len(records); {
		chunk := records[done:min(done+size, len(records))]
		failed, wait, err := deliverChunk(ctx, handler, chunk)
		switch {
		case err == nil:
			failures = append(failures, failed...)
			for i, reason := range wait {
				waiting[done+i] = reason
			}
			if done += len(chunk); len(failed) < len(chunk) {
				size *= 2
			}
			if len(wait) > 0 { // what follows may be of the same items
				for i := done; i < len(records); i++ {
					waiting[i] = waiting[waiting.first()]
				}
				return failures, done, waiting
			}
		case ctx.Err() != nil:
			return failures, done, ctx.Err()
		case Passes(err):
			return failures, done, err
		default:
			size = len(chunk) / 2
		}
	}
	return failures, done, nil
}

// deliverChunk hands records over. It retries the records that the handler calls impossible, or the
// only one, and returns those that wait. An error concerns all the records.
func deliverChunk(ctx context.Context, handler Handler, records []Record) (failures []Failure, waiting RecordErrors, err error) {
	waiting = RecordErrors{}
	at := make([]int, len(records)) // where the records are that are handed over
	for i := range at {
		at[i] = i
	}
	for tries := 1; ; tries++ {
		err := task.Try(func() error { return handler.Handle(ctx, records) })
		var named RecordErrors
		switch {
		case err == nil:
			return nil, waiting, nil
		case ctx.Err() != nil:
			return nil, nil, err
		case errors.As(err, &named):
		case Passes(err) || len(records) > 1:
			return nil, nil, err
		default:
			named = RecordErrors{0: err}
		}
		all, were := records, at
		failures, records, at = nil, nil, nil
		for _, i := range slices.Sorted(maps.Keys(named)) {
			if Passes(named[i]) {
				waiting[were[i]] = named[i]
				continue
			}
			failures = append(failures, Failure{Record: all[i], Reason: reasonOf(named[i])})
			records, at = append(records, all[i]), append(at, were[i])
		}
		if tries == recordTries || len(records) == 0 {
			return failures, waiting, nil
		}
		if err := task.Wait(ctx, recordFirstWait<<(tries-1)); err != nil {
			return nil, nil, err
		}
	}
}

// Passes reports whether the same records may succeed later. A failed call to AWS passes, unless
// AWS calls the request invalid. Otherwise a missing permission or credential would have every
// record dead-lettered.
func Passes(err error) bool {
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout, comment.Canceled:
		return true
	}
	if !errors.As(err, new(*smithy.OperationError)) {
		return false
	}
	api, refused := errors.AsType[smithy.APIError](err)
	return !refused || api.ErrorCode() != "ValidationException" && api.ErrorCode() != "TransactionCanceledException"
}

// reasonOf returns the type of an error, without its text.
func reasonOf(err error) string {
	if panicked, ok := errors.AsType[*task.Panic](err); ok {
		return panicked.Error()
	}
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	return fmt.Sprintf("error of kind %d, %T", comment.KindOf(err), inner)
}
