// Package function is the entry point of AWS Lambda for the stream. Lambda hands over the records
// of a table's stream in events. It expects to be told from which record on to hand them over
// again.
package function

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/talkback/talkback/stream"
)

// reportWithin is the time of an invocation that is reserved for the report. A function that is cut
// off reports nothing, and its work would be repeated.
const reportWithin = 2 * time.Second

// atOnce is how many records are handed over at once. When the time is up, the batches done so far
// count as processed.
const atOnce = 250

// Function hands the records of events to a handler. It is safe for use by many goroutines at once.
type Function struct {
	handler stream.Handler
	journal stream.Journal
	log     *slog.Logger
}

// New makes a function of a handler. The journal is shared by all processes that read the stream.
// The logger gets failures with positions and keys.
func New(handler stream.Handler, journal stream.Journal, logger *slog.Logger) *Function {
	return &Function{handler: handler, journal: journal, log: logger}
}

// Invoke processes the records of an event. It reports the first record that must come again, if
// any; Lambda then repeats it and all after it. A record that fails every try is dead-lettered, as
// by other readers of the stream, and does not hold up the others. An event that does not tell
// which records it holds fails as a whole with an error.
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

// process processes records[:done]: all of them unless there is an error.
func (f *Function) process(ctx context.Context, records []stream.Record) (done int, err error) {
	for done < len(records) {
		failures, n, err := stream.Deliver(ctx, f.handler, records[done:min(done+atOnce, len(records))])
		for _, failure := range failures {
			if _, err := stream.WriteDeadLetter(ctx, f.journal, f.log, "", failure); err != nil {
				return done, err // records processed since come again, which is harmless
			}
		}
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}
