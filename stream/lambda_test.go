package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/document"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/stream"
)

// recorded returns an event as Lambda sends it.
func recorded(t *testing.T, name string) events.DynamoDBEvent {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
	var event events.DynamoDBEvent
	must.Do(t, json.Unmarshal(raw, &event))
	return event
}

// fakeJournal keeps dead letters and the state in memory. If it is broken, it takes only some dead
// letters. It also observes them.
type fakeJournal struct {
	stream.Observer
	broken error
	takes  int
	kept   []stream.DeadLetter
	state  stream.State
	// observed
	processed, deadLetters, gaps int
}

func (s *fakeJournal) Processed(records int) { s.processed += records }
func (s *fakeJournal) DeadLettered()         { s.deadLetters++ }
func (s *fakeJournal) GapFound()             { s.gaps++ }

func (s *fakeJournal) State(context.Context) (stream.State, error) { return s.state, nil }

func (s *fakeJournal) SwapState(_ context.Context, _, next stream.State) error {
	s.state = next
	return nil
}

func (s *fakeJournal) PutDeadLetter(_ context.Context, label string, letter stream.DeadLetter) error {
	if s.broken != nil && len(s.kept) == s.takes {
		return s.broken
	}
	if !strings.HasPrefix(string(letter.Position), label+"/") || letter.Key == "" {
		return fmt.Errorf("label %q and key %q of %s", label, letter.Key, letter.Position)
	}
	s.kept = append(s.kept, letter)
	return nil
}

// function returns a function of a table, and its log.
func function(table string, handler stream.Handler, journal *fakeJournal) (*stream.Function, *bytes.Buffer) {
	var log bytes.Buffer
	return stream.NewFunction(table, handler, journal, slog.New(slog.NewTextHandler(&log, nil)), journal), &log
}

// invoke invokes a function with an event. It returns the identifiers that the function reports,
// its dead letters and its log. broken is the error of writing a dead letter.
func invoke(t *testing.T, ctx context.Context, event events.DynamoDBEvent, handler stream.Handler, broken error) (failed []string, deadLettered []stream.DeadLetter, log string) {
	t.Helper()
	kept := &fakeJournal{broken: broken}
	f, said := function("comments", handler, kept)
	response := must.Get(f.Invoke(ctx, event))(t)
	raw, err := json.Marshal(response)
	if err != nil || !strings.HasPrefix(string(raw), `{"batchItemFailures":[`) {
		t.Fatalf("the report is %s, %v", raw, err)
	}
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	if gap, n := kept.state.Gap, len(kept.kept); (gap != nil) != (n > 0) || kept.deadLetters != n || kept.gaps != n {
		t.Errorf("%d records were dead-lettered, %d are observed with %d gaps, and the state has the gap %v", n, kept.deadLetters, kept.gaps, gap)
	}
	return failed, kept.kept, said.String()
}

// text, numeral, list and set return values of the SDK's types.
func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func numeral(value string) types.AttributeValue { return &types.AttributeValueMemberN{Value: value} }

func list(values ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: append([]types.AttributeValue{}, values...)}
}

func object(fields map[string]types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: fields}
}

// The records of an event equal those read from the stream itself, with every type of attribute.
func TestRecordsOfAnEvent(t *testing.T) {
	var got []stream.Record
	invoke(t, t.Context(), recorded(t, "others.json"), func(_ context.Context, records []stream.Record) error {
		got = append(got, records...)
		return nil
	}, nil)
	if len(got) != 4 {
		t.Fatalf("%d records", len(got))
	}
	want := stream.Record{
		Position: stream.PositionOf("2026-11-02T07:41:09.318", "87100000000004519294412"),
		Sequence: "87100000000004519294412",
		Keys:     map[string]types.AttributeValue{"PK": text("OTHER#1"), "SK": text("X")},
		Created:  time.Unix(1794729702, 0),
		Old:      map[string]types.AttributeValue{"PK": text("OTHER#1"), "SK": text("X")},
		New: map[string]types.AttributeValue{
			"PK": text("OTHER#1"), "SK": text("X"), "empty": text(""),
			"blob":    &types.AttributeValueMemberB{Value: []byte{0, 1, 42, 65}},
			"blobs":   &types.AttributeValueMemberBS{Value: [][]byte{{0, 1, 42, 65}, {65, 42, 1, 0}}},
			"words":   &types.AttributeValueMemberSS{Value: []string{"Giraffe", "Zebra"}},
			"numbers": &types.AttributeValueMemberNS{Value: []string{"1234", "567.8"}},
			"list":    list(text("Cookies"), numeral("3.14159"), list(), object(map[string]types.AttributeValue{})),
			"map": object(map[string]types.AttributeValue{"name": text("Jo"), "age": numeral("35"), "more": object(map[string]types.AttributeValue{
				"deep": &types.AttributeValueMemberBOOL{Value: false},
			})}),
			"yes":     &types.AttributeValueMemberBOOL{Value: true},
			"nothing": &types.AttributeValueMemberNULL{Value: true},
		},
	}
	if diff := cmp.Diff(want, got[3], cmpopts.IgnoreTypes(document.NoSerde{}), cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Error(diff)
	}
	for i, r := range got[:3] {
		if r.New != nil || r.Old == nil {
			t.Errorf("record %d, of an expired item, has images %v and %v", i, r.Old, r.New)
		}
	}
}

// errPoison is a permanent error.
var errPoison = errors.New("damaged: klemmt")

// Every record that can be processed is, and the first that Lambda must send again is reported.
func TestWhatIsReported(t *testing.T) {
	event := recorded(t, "comments.json")
	const last = 9
	throttled := comment.Errorf(comment.Throttled, "slow down")
	for _, row := range []struct {
		why          string
		bad          map[int]error // by place in the event
		fakeJournal  error
		first        int // reported; -1 for none
		deadLettered []int
		missed       []int
	}{
		{why: "nothing fails", first: -1},
		{why: "the first cannot be processed", bad: map[int]error{0: errPoison}, first: -1, deadLettered: []int{0}},
		{why: "the last cannot be processed", bad: map[int]error{last: errPoison}, first: -1, deadLettered: []int{last}},
		{why: "several cannot be processed", bad: map[int]error{2: errPoison, 3: errPoison, 7: errPoison}, first: -1, deadLettered: []int{2, 3, 7}},
		{why: "the table takes no more for a while", bad: map[int]error{6: throttled}, first: 0, missed: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{why: "one cannot be processed, and later the table takes no more", bad: map[int]error{1: errPoison, 9: throttled}, first: 9, deadLettered: []int{1}, missed: []int{9}},
		{why: "a record can be neither processed nor dead-lettered", bad: map[int]error{4: errPoison}, fakeJournal: throttled, first: 4},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // what fails is tried again after a while
				places := map[stream.Position]int{}
				handled := map[int]bool{}
				failed, deadLettered, log := invoke(t, t.Context(), event, func(_ context.Context, records []stream.Record) error {
					if len(places) == 0 {
						for i, r := range records {
							places[r.Position] = i
						}
					}
					if err := worst(records, places, row.bad); err != nil {
						return err
					}
					for _, r := range records {
						handled[places[r.Position]] = true
					}
					return nil
				}, row.fakeJournal)
				var want []string
				if row.first >= 0 {
					want = []string{event.Records[row.first].Change.SequenceNumber}
				}
				if diff := cmp.Diff(want, failed); diff != "" {
					t.Errorf("reported: %s\n%s", diff, log)
				}
				var put []int
				for _, a := range deadLettered {
					put = append(put, places[a.Position])
				}
				check.Equal(t, row.deadLettered, put, "dead-lettered")
				for i := range event.Records {
					if missed := row.bad[i] != nil || slices.Contains(row.missed, i); missed == handled[i] {
						t.Errorf("record %d: processed is %v", i, handled[i])
					}
				}
				for _, words := range []string{"Boils", "klemmt", "Chloé"} {
					if strings.Contains(log, words) || strings.Contains(fmt.Sprint(deadLettered), words) {
						t.Errorf("a customer's words are in the log or a dead letter: %s %v", log, deadLettered)
					}
				}
			})
		})
	}
}

// worst returns the error of a handler: a damaged record takes precedence over all other causes.
func worst(records []stream.Record, places map[stream.Position]int, bad map[int]error) (err error) {
	for _, r := range records {
		if found := bad[places[r.Position]]; found != nil && !errors.Is(err, errPoison) {
			err = found
		}
	}
	return err
}

// While a record waits, no later record of its item is handed over, since the outbox would then
// count the earlier one as appended. Records of other items are.
func TestLaterRecordsOfAnItemWait(t *testing.T) {
	const items, waits = 400, 100
	event := recorded(t, "comments.json")
	one := event.Records[0]
	event.Records = nil
	for i := range items + items/2 {
		one.Change.SequenceNumber = fmt.Sprintf("%021d", i)
		one.Change.Keys = map[string]events.DynamoDBAttributeValue{"PK": events.NewStringAttribute(fmt.Sprint(i % items))}
		event.Records = append(event.Records, one)
	}
	first, handled := event.Records[waits].Change.SequenceNumber, map[string]bool{} // handled has the keys of handled records
	failed, _, _ := invoke(t, t.Context(), event, func(_ context.Context, records []stream.Record) error {
		for i, r := range records {
			if r.Sequence == first {
				return stream.RecordErrors{i: comment.Errorf(comment.Throttled, "slow down")}
			}
			handled[r.Key()] = true
		}
		return nil
	}, nil)
	if diff := cmp.Diff([]string{first}, failed); diff != "" || len(handled) < items/2 {
		t.Errorf("%d items were handed over; reported: %s", len(handled), diff)
	}
	if handled[fmt.Sprintf("PK=%d", waits)] {
		t.Error("a record was handed over before an earlier one of its item")
	}
}

// Processed records are counted, also beside one that waits.
func TestProcessedRecordsAreCounted(t *testing.T) {
	event, journal := recorded(t, "comments.json"), &fakeJournal{}
	f, _ := function("comments", func(context.Context, []stream.Record) error {
		return stream.RecordErrors{1: comment.Errorf(comment.Throttled, "slow down")}
	}, journal)
	must.Get(f.Invoke(t.Context(), event))(t)
	if want := len(event.Records) - 1; journal.processed != want {
		t.Errorf("%d records, want %d", journal.processed, want)
	}
}

// If the time is up while records are dead-lettered, the letters written so far are not repeated.
// So a batch with more of them than one invocation has time for is finished after several.
func TestDeadLettersWithoutTimeForAll(t *testing.T) {
	for _, row := range []struct {
		why   string
		fails func(i int) bool
		waits int // the record that must come again in any case; -1 for none
		takes int
		want  int
	}{
		{"all records fail", func(int) bool { return true }, -1, 4, 4},
		{"no letter is taken", func(i int) bool { return i >= 3 }, -1, 0, 3},
		{"some fail", func(i int) bool { return i%2 == 1 }, -1, 2, 5},
		{"an earlier record waits", func(i int) bool { return i%2 == 1 }, 2, 2, 2},
	} {
		event := recorded(t, "comments.json")
		handler := func(_ context.Context, records []stream.Record) error {
			failed := stream.RecordErrors{}
			for i, r := range records {
				at := slices.IndexFunc(event.Records, func(e events.DynamoDBEventRecord) bool { return e.Change.SequenceNumber == r.Sequence })
				switch {
				case at == row.waits:
					failed[i] = comment.Errorf(comment.Throttled, "slow down")
				case row.fails(at):
					failed[i] = errors.New("broken")
				}
			}
			return failed
		}
		journal := &fakeJournal{broken: context.DeadlineExceeded, takes: row.takes}
		f, _ := function("comments", handler, journal)
		response, err := f.Invoke(t.Context(), event)
		if err != nil || len(response.BatchItemFailures) != 1 || len(journal.kept) != row.takes {
			t.Fatalf("%s: %v, %v, with %d dead letters", row.why, response, err, len(journal.kept))
		}
		if got, want := response.BatchItemFailures[0].ItemIdentifier, event.Records[row.want].Change.SequenceNumber; got != want {
			t.Errorf("%s: %s and all after it come again, want %s", row.why, got, want)
		}
	}
}

// A record of the schedule's item is noted once all records of its event are processed. Events are
// repeated, and their records may be out of order: the latest item counts.
func TestScheduleIsNoted(t *testing.T) {
	at := func(minutes int64) time.Time { return time.Unix(1700000000+60*minutes, 0) }
	journal, busy := &fakeJournal{}, error(nil)
	f, _ := function("comments", func(context.Context, []stream.Record) error { return busy }, journal)
	for _, row := range []struct {
		written []time.Time
		busy    error
		want    time.Time
	}{
		{[]time.Time{at(5)}, comment.Errorf(comment.Throttled, "slow down"), time.Time{}},
		{[]time.Time{at(5)}, nil, at(5)},
		{[]time.Time{at(15), at(10)}, nil, at(15)},
		{[]time.Time{at(5)}, nil, at(15)},
		{[]time.Time{{}}, nil, at(15)},
		{[]time.Time{at(20), at(20)}, nil, at(20)},
	} {
		event := recorded(t, "comments.json")
		for i, written := range row.written {
			r := &event.Records[i].Change
			r.Keys["SK"], r.ApproximateCreationDateTime.Time = events.NewStringAttribute("SCHEDULE"), written
		}
		busy = row.busy
		must.Get(f.Invoke(t.Context(), event))(t)
		if !journal.state.Scheduled.Equal(row.want) {
			t.Errorf("after items of %v, %v: %v is noted, want %v", row.written, row.busy, journal.state.Scheduled, row.want)
		}
	}
}

// An event that does not identify its records fails as a whole, since any report would be wrong.
func TestEventsThatCannotBeRead(t *testing.T) {
	for _, row := range []struct {
		why    string
		damage func(*events.DynamoDBEventRecord)
		want   string
	}{
		{"no stream", func(r *events.DynamoDBEventRecord) { r.EventSourceArn = "" }, "must be given the stream of the table"},
		{"a queue", func(r *events.DynamoDBEventRecord) { r.EventSourceArn = "arn:aws:sqs:eu-central-1:1:q" }, "must be given the stream of the table"},
		{"no label", func(r *events.DynamoDBEventRecord) {
			r.EventSourceArn = "arn:aws:dynamodb:eu-central-1:1:table/t/stream/"
		}, "must be given"},
		{"another table", func(r *events.DynamoDBEventRecord) {
			r.EventSourceArn = strings.Replace(r.EventSourceArn, "table/comments/", "table/old-comments/", 1)
		}, `table/old-comments/stream/2026-11-02T07:41:09.318" is not the stream of table "comments": give the function that stream, or set TALKBACK_TABLE`},
		{"no number", func(r *events.DynamoDBEventRecord) { r.Change.SequenceNumber = "" }, "record 4 of 10 has no sequence number"},
		{"no old images", func(r *events.DynamoDBEventRecord) { r.Change.StreamViewType = "NEW_IMAGE" }, "the stream has NEW_IMAGE, by which nothing can be counted"},
	} {
		event := recorded(t, "comments.json")
		row.damage(&event.Records[3])
		f, _ := function("comments", func(context.Context, []stream.Record) error { t.Error(row.why + ": handled"); return nil }, &fakeJournal{})
		_, err := f.Invoke(t.Context(), event)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.why, err)
		}
	}
}

// The stream of the function's table is known by the name in it, in every part of AWS and on local
// engines. The function may also have the table's whole ARN.
func TestStreamsOfTheTable(t *testing.T) {
	for arn, tables := range map[string][]string{
		"arn:aws:dynamodb:eu-central-1:123456789012:table/comments":        {"comments", "arn:aws:dynamodb:eu-central-1:123456789012:table/comments"},
		"arn:aws-cn:dynamodb:cn-north-1:123456789012:table/comments":       {"comments"},
		"arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/a.b-c_d": {"a.b-c_d"},
		"arn:aws:dynamodb:ddblocal:000000000000:table/comments":            {"comments"},
	} {
		for _, table := range tables {
			event, handled := recorded(t, "comments.json"), 0
			for i := range event.Records {
				event.Records[i].EventSourceArn = arn + "/stream/2026-11-02T07:41:09.318"
			}
			f, _ := function(table, func(_ context.Context, records []stream.Record) error { handled += len(records); return nil }, &fakeJournal{})
			response, err := f.Invoke(t.Context(), event)
			if err != nil || len(response.BatchItemFailures) > 0 || handled != len(event.Records) {
				t.Errorf("%s, for table %s: %v, %v, %d handled", arn, table, response, err, handled)
			}
		}
	}
}

// Invoke always leaves time for the report.
func TestReportBeforeTheEnd(t *testing.T) {
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	failed, _, _ := invoke(t, ctx, recorded(t, "comments.json"), func(ctx context.Context, _ []stream.Record) error {
		if own, bounded := ctx.Deadline(); !bounded || !own.Before(end) {
			t.Errorf("the handler may work until %v, when all is cut off at %v", own, end)
		}
		return fmt.Errorf("asked too late: %w", context.DeadlineExceeded)
	}, nil)
	if len(failed) != 1 {
		t.Errorf("reported: %v", failed)
	}
}

// An event with an empty list of records is no failure. An event of another kind is, such as an
// HTTP request or the console's test event, and the log says so.
func TestEmptyEvent(t *testing.T) {
	for event, empty := range map[string]bool{
		`{"Records": []}`: true, `{}`: false, `{"key1": "value1"}`: false,
		`{"version": "2.0", "rawPath": "/graphql", "body": "secret", "requestContext": {"http": {"method": "POST"}}}`: false,
	} {
		var parsed events.DynamoDBEvent
		must.Do(t, json.Unmarshal([]byte(event), &parsed))
		f, said := function("comments", func(context.Context, []stream.Record) error { return nil }, &fakeJournal{})
		response, err := f.Invoke(t.Context(), parsed)
		if (err == nil) != empty || len(response.BatchItemFailures) > 0 || strings.Contains(said.String(), "TALKBACK_FUNCTION=api") == empty || strings.Contains(said.String(), "secret") {
			t.Errorf("%s: %v, %v, and the log has: %s", event, response, err, said.String())
		}
	}
}
