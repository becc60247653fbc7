package counts_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/stream"
)

// lateReplica answers eventually consistent reads of items with their state before the writes.
type lateReplica struct{ *dynamodb.Client }

func (r lateReplica) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, want := range in.RequestItems {
		if !aws.ToBool(want.ConsistentRead) {
			return &dynamodb.BatchGetItemOutput{}, nil
		}
	}
	return r.Client.BatchGetItem(ctx, in, options...)
}

// Subscribers of statistics get the counted values even if eventually consistent reads lag, because
// no later event would correct them.
func TestSubscribersAreToldWhatIsCounted(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := newTable(t, client)
	c := commenttest.Random(commenttest.Rand(t), "vase")
	c.Status = comment.Approved
	record := stream.Record{Position: stream.PositionOf("2026-01-01T00:00:00.000", "1"), Created: time.Now(), New: image(c)}
	must.Do(t, counts.NewCounter(client, table, counts.CounterOptions{}).Handle(t.Context(), []stream.Record{record}))
	late := lateReplica{client}
	unknown := func(context.Context) (at time.Time, known bool) { return at, false }
	hub := live.New(outbox.New(client, table), dynamo.NewStore(late, table, dynamo.Options{}), unknown, slog.New(slog.DiscardHandler))
	defer hub.Close()
	inlet := &live.Inlet{}
	told := must.Get(hub.Stats(live.With(t.Context(), inlet), "vase"))(t)
	d := must.Get(inlet.Subscription.Next(t.Context()))(t)
	inlet.Subscription.Offer(d)
	if total := (<-told).Total(); total != 1 {
		t.Errorf("a subscriber gets a count of %d comments", total)
	}
}
