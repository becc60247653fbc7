package command_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// lambda reads the stream of a table and invokes the function with it, as AWS does: batch by batch.
// It repeats from the first record reported as failed, and now and then from an earlier one.
type lambda struct {
	t      *testing.T
	a      *api
	random *rand.Rand
	again  int // reports of failures

	function *stream.Function
}

// newLambda returns a lambda whose calls to the table fail now and then.
func newLambda(a *api, t *testing.T, r *rand.Rand) *lambda {
	client, _ := faulttest.Under(a.session.Client, faulttest.OneIn(r, 10))
	f := stream.NewFunction(a.session.Table, counts.NewCounter(client, a.session.Table, counts.CounterOptions{}).Handle, leases.NewLeases(client, a.session.Table), slog.New(slog.DiscardHandler), nil)
	return &lambda{t: t, a: a, random: rand.New(rand.NewPCG(r.Uint64(), 4)), function: f}
}

// invoke passes records to the function. One time in three it has hardly any time for them, and
// none until an invocation has failed. The function keeps 2 seconds for its report.
func (l *lambda) invoke(event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	ctx := context.Background()
	if l.again == 0 || l.random.IntN(3) == 0 {
		spare := time.Duration(min(l.again, 1)*l.random.IntN(15)) * time.Millisecond
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*time.Second+spare)
		defer cancel()
	}
	return l.function.Invoke(ctx, event)
}

// records are the records of the stream that pass the filter.
func (l *lambda) records() (label string, all []stream.Record) {
	l.t.Helper()
	client := l.a.session.Client
	source := stream.NewSource(stream.NewClient(client), client, l.a.session.Table)
	listing, err := source.Shards(context.Background())
	if err != nil || len(listing.Shards) != 1 {
		l.t.Fatal(err, listing)
	}
	iterator, err := source.Open(context.Background(), listing.Label, listing.Shards[0].ID, "")
	for err == nil {
		var batch stream.Batch
		if batch, err = source.Read(context.Background(), listing.Label, iterator); len(batch.Records) == 0 {
			break
		}
		iterator = batch.Next
		for _, r := range batch.Records {
			if key, _ := r.Keys["SK"].(*types.AttributeValueMemberS); key != nil && key.Value == "C" { // the filter of infra/count.json
				all = append(all, r)
			}
		}
	}
	must.Do(l.t, err)
	return listing.Label, all
}

// run invokes the function until the stream has no more records.
func (l *lambda) run(done <-chan struct{}) {
	at, ending := 0, false
	for {
		select {
		case <-done:
			ending = true
		default:
		}
		label, records := l.records()
		if at == len(records) && ending {
			return
		}
		if l.random.IntN(4) == 0 {
			at = l.random.IntN(at + 1)
		}
		batch := records[at:min(len(records), at+1+l.random.IntN(80))]
		if len(batch) == 0 {
			time.Sleep(5 * time.Millisecond) // AWS invokes nothing without records
			continue
		}
		response, err := l.invoke(eventOf(l.t, l.a.session.Table, label, batch))
		if err != nil {
			l.t.Error(err)
			return
		}
		at += len(batch)
		for _, failure := range response.BatchItemFailures {
			l.again++
			at -= len(batch) - slices.IndexFunc(batch, func(r stream.Record) bool { return r.Sequence == failure.ItemIdentifier })
		}
	}
}

// eventOf is the event that AWS makes of records.
func eventOf(t *testing.T, table, label string, records []stream.Record) events.DynamoDBEvent {
	t.Helper()
	var list []any
	for _, r := range records {
		change := map[string]any{
			"ApproximateCreationDateTime": r.Created.Unix(), "SequenceNumber": r.Sequence, "Keys": dynamotest.JSON(r.Keys),
			"StreamViewType": "NEW_AND_OLD_IMAGES",
		}
		if r.Old != nil {
			change["OldImage"] = dynamotest.JSON(r.Old)
		}
		if r.New != nil {
			change["NewImage"] = dynamotest.JSON(r.New)
		}
		list = append(list, map[string]any{
			"eventSource": "aws:dynamodb", "dynamodb": change,
			"eventSourceARN": "arn:aws:dynamodb:eu-central-1:123456789012:table/" + table + "/stream/" + label,
		})
	}
	raw := must.Get(json.Marshal(map[string]any{"Records": list}))(t)
	var event events.DynamoDBEvent
	must.Do(t, json.Unmarshal(raw, &event))
	return event
}

// A function of AWS Lambda counts exactly, alone or beside a reader of the stream, though
// invocations fail and are repeated.
func TestBothEntryPoints(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
			a := newAPI(t, endpoint)
			s := newScribe(a)
			l := newLambda(a, t, s.random)
			if !alone {
				defer a.consume(a.session.Client)()
			}
			written := make(chan struct{})
			var invoking sync.WaitGroup
			invoking.Go(func() { l.run(written) })
			for range 60 {
				s.writeAnywhere()
			}
			close(written)
			invoking.Wait()
			if !alone {
				a.drained(time.Now())
			}
			for _, product := range products {
				var data struct{ Product struct{ Stats statsShown } }
				a.mustAsk(`query($p: ID!) { product(id: $p) { stats `+statsFields+` } }`, map[string]any{"p": product}, &data)
				check.Equal(s.tb, statsOf(s.model.List(product, comment.Filter{}, comment.NewestFirst)), data.Product.Stats, product)
			}
			s.checkLeaders(s.model, "", 20)
			if l.again == 0 {
				t.Error("no invocation failed: this proves little")
			}
		})
	}
}
