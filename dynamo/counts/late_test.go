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
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/stream"
)

// A verification waits for records that are published late, up to its patience, and reports a wait
// that was in vain. Renewed leases and empty answers of the stream prove nothing.
func TestWhatIsPublishedLateIsNoDrift(t *testing.T) {
	for _, row := range []struct {
		why      string
		counts   bool
		publish  int // after this many reads of the leases
		patience time.Duration
		drifts   bool
	}{
		{"it is published in time", true, 20, time.Minute, false},
		{"it is not published in time", true, 1 << 30, 100 * time.Millisecond, true},
		{"no process has a lease", false, 0, time.Minute, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			client, table := newTableAt(t, dynamotest.Dynoxide(t))
			must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), commenttest.Many(commenttest.Rand(t), "vase", 1)))(t)
			leases := leases.NewLeases(client, table)
			late, consumer := streamtest.Late(client, table, leases, counts.NewCounter(client, table, counts.CounterOptions{}).Handle)
			if row.counts {
				defer streamtest.Run(t, consumer)()
				must.Wait(t, "the lease was renewed", func() bool { return streamtest.Renewals(t, leases) >= 2 })
			}
			verifier, looks := counts.HastenVerifier(counts.NewVerifier(client, table, counts.VerifyOptions{Calls: 1})), 0
			counts.SetPatience(verifier, row.patience)
			verifier.Leases = func(ctx context.Context) ([]stream.Lease, error) {
				looks++
				late.Hold(looks < row.publish)
				_, now, err := leases.Current(ctx)
				return now, err
			}
			found, err := verifier.Run(t.Context(), func(int) {})
			if err != nil || len(found.Drifts) > 0 != row.drifts || found.Unproven != row.drifts {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}

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
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	c := commenttest.Random(commenttest.Rand(t), "vase")
	c.Status = comment.Approved
	record := stream.Record{Position: stream.PositionOf("2026-01-01T00:00:00.000", "1"), Created: time.Now(), New: layout.Encode(c)}
	handle(t, counts.NewCounter(client, table, counts.CounterOptions{}), record)
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
