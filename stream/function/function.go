// Package function is the entry point for AWS Lambda, which hands over the records of a table's stream in events
// and wants to know from which record on to hand them over again.
package function

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/talkback/talkback/stream"
)

// reportWithin is what is left of an invocation's time for the report: an invocation that is cut off reports nothing,
// and its work would be done again.
const reportWithin = 2 * time.Second

// atOnce is how many records are handed over at once. What was done of an event is kept when the time is up.
const atOnce = 250

// Function hands the records of events to a handler. It is safe for use by many goroutines at once.
type Function struct {
	handler stream.Handler
	journal stream.Journal
	log     *slog.Logger
}

// New makes a function of a handler. The journal is that of all who read the stream. The logger is told what goes wrong, by positions and keys.
func New(handler stream.Handler, journal stream.Journal, logger *slog.Logger) *Function {
	return &Function{handler: handler, journal: journal, log: logger}
}

// Invoke processes the records of an event, and reports the first that has to come again, with all after it, if there is
// one. A record that no try could process is dead-lettered, as other readers of the stream do, and keeps none of the others
// back. An event that does not tell which records it holds is an error, and fails as a whole.
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
	if done, err := f.process(ctx, records); err != nil {
		again := records[done]
		f.log.Warn("records are to be handed over again", "from", string(again.Position), "records", len(records)-done, "error", err)
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: again.Sequence})
	}
	return response, nil
}

// process processes records[:done], and all of them unless there is an error.
func (f *Function) process(ctx context.Context, records []stream.Record) (done int, err error) {
	for done < len(records) {
		failures, n, err := stream.Deliver(ctx, f.handler, records[done:min(done+atOnce, len(records))])
		for _, failure := range failures {
			if _, err := stream.WriteDeadLetter(ctx, f.journal, f.log, "", failure); err != nil {
				return done, err // and so again what was processed since, which does no harm
			}
		}
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}
