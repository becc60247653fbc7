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
	"github.com/talkback/talkback/internal/usage"
)

// Retries of a record that fails on its own: the tries, and the first wait, which doubles.
const (
	recordTries     = 3
	recordFirstWait = 50 * time.Millisecond
)

// RecordErrors is the error of a Handler that knows which records were not processed. It maps their
// indices in the call to the reasons. All other records were processed. A record with a
// temporary reason waits, without holding up the others: it is passed again later, before records
// that follow it.
type RecordErrors map[int]error

// Error returns the number of failed records, and the reason of the first.
func (e RecordErrors) Error() string {
	return fmt.Sprintf("%d records were not processed: %v", len(e), e[e.first()])
}

// Unwrap returns the reason of the first failed record.
func (e RecordErrors) Unwrap() error { return e[e.first()] }

func (e RecordErrors) first() int { return slices.Min(slices.Collect(maps.Keys(e))) }

// Deliver passes records to a handler in order. It calls deadLetter with the index of each record
// that failed in every try, and with the type of its error. The error's text is left out, since it
// may contain anything. On return, records[:done] are processed or dead-lettered. An error is
// temporary: delivery should continue later at records[done]. If it is a RecordErrors, it has the
// records that wait, and all others are processed or dead-lettered.
//
// Records with permanent reasons in a RecordErrors are passed again together, and are dead-lettered
// after the last try. After any other error or a panic of the handler, Deliver passes ever fewer
// records until the culprit is alone, so that only the culprit is dead-lettered.
func Deliver(ctx context.Context, handler Handler, records []Record, deadLetter func(i int, reason string) error) (done int, err error) {
	failed, done, err := deliverAll(ctx, handler, records)
	for _, i := range slices.Sorted(maps.Keys(failed)) {
		if err := deadLetter(i, reasonOf(failed[i])); err != nil {
			return min(done, i), err
		}
	}
	return done, err
}

// deliverAll is Deliver, but returns the records to dead-letter, with their errors.
func deliverAll(ctx context.Context, handler Handler, records []Record) (failed RecordErrors, done int, err error) {
	failed = RecordErrors{}
	for size := len(records); done < len(records); {
		chunk := records[done:min(done+size, len(records))]
		unprocessed, err := deliverChunk(ctx, handler, chunk)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return failed, done, ctx.Err()
		case Passes(err):
			return failed, done, err
		default:
			size = len(chunk) / 2
			continue
		}
		waiting, before := RecordErrors{}, len(failed)
		for i, reason := range unprocessed {
			if Passes(reason) {
				waiting[done+i] = reason
			} else {
				failed[done+i] = reason
			}
		}
		if done += len(chunk); len(failed)-before < len(chunk) {
			size *= 2
		}
		if len(waiting) > 0 {
			first := waiting.first()
			for i := done; i < len(records); i++ { // they may be of the same items
				waiting[i] = waiting[first]
			}
			return failed, first, waiting
		}
	}
	return failed, done, nil
}

// deliverChunk passes records to the handler. It retries those with permanent reasons, or a single
// record, and returns those that wait or fail after the last try. An error concerns all the
// records.
func deliverChunk(ctx context.Context, handler Handler, records []Record) (RecordErrors, error) {
	unprocessed := RecordErrors{}
	left := make([]int, len(records)) // the indexes of the records to pass
	for i := range left {
		left[i] = i
	}
	for tries := 1; ; tries++ {
		passed := make([]Record, len(left))
		for i, at := range left {
			passed[i] = records[at]
			delete(unprocessed, at)
		}
		err := task.Try(func() error { return handler(ctx, passed) })
		var named RecordErrors
		switch {
		case err == nil:
			return unprocessed, nil
		case ctx.Err() != nil:
			return nil, err
		case errors.As(err, &named):
		case Passes(err) || len(passed) > 1:
			return nil, err
		default:
			named = RecordErrors{0: err}
		}
		were := left
		left = nil
		for _, i := range slices.Sorted(maps.Keys(named)) {
			unprocessed[were[i]] = named[i]
			if !Passes(named[i]) {
				left = append(left, were[i])
			}
		}
		if tries == recordTries || len(left) == 0 {
			return unprocessed, nil
		}
		if err := task.Wait(ctx, recordFirstWait<<(tries-1)); err != nil {
			return nil, err
		}
	}
}

// Passes reports whether an error is temporary, so that the same records may succeed later. A
// failed call to AWS is, unless AWS calls the request invalid: otherwise a missing permission or
// credential would dead-letter every record.
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

// Traced returns a handler that makes a trace for each batch. The trace is linked to the spans that
// wrote the items of the batch, by their partition keys. Without a tracer, Traced returns the
// handler as it is.
func Traced(handler Handler, tracer *usage.Tracer, writes *usage.Writes) Handler {
	if tracer == nil {
		return handler
	}
	return func(ctx context.Context, records []Record) error {
		keys := make([]string, len(records))
		for i, r := range records {
			keys[i] = r.keyText("PK")
		}
		ctx, span := tracer.Batch(ctx, keys, writes)
		defer span.End()
		err := handler(ctx, records)
		if err != nil {
			span.Fail(reasonOf(err))
		}
		return err
	}
}

// Observer observes a Consumer, or a function of AWS Lambda. Several goroutines call its methods,
// so they must be quick.
type Observer interface {
	// HeartbeatSent is called for each heartbeat that was written, and HeartbeatReceived for each
	// that came through the stream, whichever process sent it.
	HeartbeatSent()
	HeartbeatReceived()
	// Processed is called with the number of records that were processed.
	Processed(records int)
	// DeadLettered and GapFound are called once the journal has stored a dead letter or a gap. For
	// a dead-lettered record, both are called.
	DeadLettered()
	GapFound()
}

// unobserved stands for no observer.
type unobserved struct{}

// HeartbeatSent implements Observer.
func (unobserved) HeartbeatSent() {}

// HeartbeatReceived implements Observer.
func (unobserved) HeartbeatReceived() {}

// Processed implements Observer.
func (unobserved) Processed(int) {}

// DeadLettered implements Observer.
func (unobserved) DeadLettered() {}

// GapFound implements Observer.
func (unobserved) GapFound() {}

// observed returns a handler that calls another one and reports the processed records to an
// observer.
func observed(under Handler, o Observer) Handler {
	return func(ctx context.Context, records []Record) error {
		err := under(ctx, records)
		var failed RecordErrors
		if err == nil || errors.As(err, &failed) {
			o.Processed(len(records) - len(failed))
		}
		return err
	}
}
