package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// reportWithin is the part of an invocation's time that is reserved for the report. A function that
// times out reports nothing, and all its work is repeated.
const reportWithin = 2 * time.Second

// atOnce is how many records are passed to the handler at once. When the time is up, the batches
// done so far count as processed.
const atOnce = 250

// Function is the entry point of AWS Lambda for the stream. Lambda passes the records of a table's
// stream in events. The response names the record from which Lambda repeats them. It is safe for
// use by many goroutines at once.
type Function struct {
	table   string
	handler Handler
	losses
}

// NewFunction makes a function of a handler, for the stream of a table. The journal is shared by
// all processes that read the stream. The logger gets failures with positions and keys. The
// observer may be nil.
func NewFunction(table string, handler Handler, journal Journal, logger *slog.Logger, observer Observer) *Function {
	if observer == nil {
		observer = unobserved{}
	}
	return &Function{table, observed(handler, observer), losses{journal, logger, observer}}
}

// Invoke processes the records of an event. It reports the first record that must come again, if
// any; Lambda then repeats it and all after it. A record that fails every try is dead-lettered, as
// other readers of the stream do, and does not hold up later records. If it cannot read the records
// of an event, it logs and returns an error, because Lambda does not log it.
func (f *Function) Invoke(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	records, err := f.eventRecords(event)
	if err != nil {
		f.logger.Error("an event is not from the table's stream", "error", err)
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
		f.logger.Warn("AWS Lambda must send records again", "from", string(again.Position), "records", len(records)-done, "error", err)
		response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: again.Sequence})
		return response, nil
	}
	f.noteSchedule(ctx, records)
	return response, nil
}

// scheduleSK is the sort key of the item that the schedule in infra/count.json writes.
const scheduleSK = "SCHEDULE"

// noteSchedule notes the last item of the schedule among processed records, unless a later one was
// noted already: events may be repeated. If that fails, the next event makes up for it.
func (f *Function) noteSchedule(ctx context.Context, records []Record) {
	var last time.Time
	for _, r := range records {
		if r.keyText("SK") == scheduleSK && r.Created.After(last) {
			last = r.Created
		}
	}
	if last.IsZero() {
		return
	}
	err := changeState(ctx, f.journal, func(state *State) error {
		if last.After(state.Scheduled) {
			state.Scheduled = last
		}
		return nil
	})
	if err != nil {
		f.logger.Warn("the progress of the function could not be stored", "error", err)
	}
}

// process processes records. On return, records[:done] are processed: all of them unless there is
// an error. If some have to wait, it continues with later records of other items.
func (f *Function) process(ctx context.Context, records []Record) (done int, err error) {
	var waiting error
	waits := map[string]bool{} // keys of items
	for next := 0; next < len(records); next += atOnce {
		all := records[next:min(next+atOnce, len(records))]
		chunk := slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return waits[r.Key()] })
		n, err := Deliver(ctx, f.handler, chunk, func(i int, reason string) error {
			_, err := f.deadLetter(ctx, "", chunk[i], reason)
			return err
		})
		if waiting == nil { // else the chunk may follow records that wait
			done += n
			waiting = err
		}
		var named RecordErrors
		if err != nil && !errors.As(err, &named) {
			return done, err
		}
		for i := range named {
			waits[chunk[i].Key()] = true
		}
	}
	return done, waiting
}

// eventRecords returns the records of an event, in order. They equal those that a reader of the
// stream itself would get, with the same positions. So both may work on one table. Records of
// another table are an error, because they would be counted into this one.
func (f *Function) eventRecords(event events.DynamoDBEvent) ([]Record, error) {
	if event.Records == nil {
		return nil, errors.New("the event has no records: the function must be given the stream of the table; one that answers HTTP requests has TALKBACK_FUNCTION=api")
	}
	records := make([]Record, len(event.Records))
	for i, r := range event.Records {
		source, label, _ := strings.Cut(r.EventSourceArn, "/stream/")
		if label == "" {
			return nil, fmt.Errorf("%q is not the name of a table's stream: the function must be given the stream of the table", r.EventSourceArn)
		}
		if source != f.table && !strings.HasSuffix(source, ":table/"+f.table) {
			return nil, fmt.Errorf("%q is not the stream of table %q: give the function that stream, or set TALKBACK_TABLE to the table of this one", r.EventSourceArn, f.table)
		}
		if r.Change.SequenceNumber == "" {
			return nil, fmt.Errorf("record %d of %d has no sequence number", i+1, len(event.Records))
		}
		if err := checkView(r.Change.StreamViewType); err != nil {
			return nil, err
		}
		keys, badKeys := eventImage(r.Change.Keys)
		old, badOld := eventImage(r.Change.OldImage)
		new, badNew := eventImage(r.Change.NewImage)
		if err := errors.Join(badKeys, badOld, badNew); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Change.SequenceNumber, err)
		}
		records[i] = Record{
			Position: PositionOf(label, r.Change.SequenceNumber), Sequence: r.Change.SequenceNumber,
			Created: r.Change.ApproximateCreationDateTime.Time, Keys: keys, Old: old, New: new,
		}
	}
	return records, nil
}

// eventImage converts an item to the SDK's type; nil if there is none.
func eventImage(attributes map[string]events.DynamoDBAttributeValue) (map[string]types.AttributeValue, error) {
	if attributes == nil {
		return nil, nil
	}
	text, err := json.Marshal(attributes)
	if err != nil {
		return nil, err
	}
	return attributevalue.UnmarshalMapJSON(text)
}
