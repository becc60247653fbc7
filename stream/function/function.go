// Package function is the door of the stream for AWS Lambda, which hands over the records of a table's stream in events
// and wants to know from which record on to hand them over again.
package function

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// reportWithin is what is left of an invocation's time for the report: whoever is cut off reports nothing, and what was
// done would be done again.
const reportWithin = 2 * time.Second

// atOnce is how many records are handled at once. More would save little, and be done again when one of them fails.
const atOnce = 250

// Function hands the records of events to a handler. It is safe for use by many goroutines at once.
type Function struct {
	handler stream.Handler
	log     *slog.Logger
}

// New makes a function of a handler. The logger is told of records that cannot be handled, by their positions.
func New(handler stream.Handler, logger *slog.Logger) *Function {
	return &Function{handler: handler, log: logger}
}

// Invoke handles the records of an event and reports the first that has to come again, with all after it, if there is
// one; an event that cannot be read at all is an error. A record that cannot be handled keeps none of the others from
// being handled: when Lambda gives it up after the last try, and those after it, nothing else is lost.
func (f *Function) Invoke(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	records, err := recordsOf(event)
	if err != nil {
		return events.DynamoDBEventResponse{}, err
	}
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-reportWithin))
		defer cancel()
	}
	response := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	if first, _ := f.handle(ctx, records); first < len(records) {
		number := event.Records[first].Change.SequenceNumber
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: number})
	}
	return response, nil
}

// handle has records handled. It returns the place of the first that was not, their number if all were, and whether the
// reason may pass, so that there is no use in going on.
func (f *Function) handle(ctx context.Context, records []stream.Record) (first int, stop bool) {
	if len(records) <= atOnce {
		err := f.handler.Handle(ctx, records)
		switch {
		case err == nil:
			return len(records), false
		case mayPass(err):
			f.log.Warn("records are to be handed over again", "from", records[0].Position, "records", len(records), "error", err)
			return 0, true
		case len(records) == 1:
			f.log.Error("a record cannot be handled", "position", records[0].Position, "error", err)
			return 0, false
		}
	}
	return f.handleHalves(ctx, records)
}

// handleHalves has first the one and then the other half handled: so what was done of many records is kept when the time
// is up, and those at fault are told from the others.
func (f *Function) handleHalves(ctx context.Context, records []stream.Record) (first int, stop bool) {
	half := len(records) / 2
	first, stop = f.handle(ctx, records[:half])
	if stop {
		return first, true
	}
	second, stop := f.handle(ctx, records[half:])
	if first == half {
		first += second
	}
	return first, stop
}

// mayPass tells whether the same records may be handled later.
func mayPass(err error) bool {
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout, comment.Canceled:
		return true
	}
	return false
}
