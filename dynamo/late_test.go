package dynamo

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/stream"
)

// workedOffOf is how far the leases say that the stream was processed.
type workedOffOf struct{ *Leases }

// WorkedOff implements WorkedOff.
func (w workedOffOf) WorkedOff(ctx context.Context) (time.Time, bool, error) {
	upTo, known, state, err := w.Leases.WorkedOff(ctx)
	return upTo, known && state.Complete, err
}

// countsLate is a consumer that counts a table whose stream publishes nothing yet.
func countsLate(client *dynamodb.Client, table string) (*streamtest.LateSource, *stream.Consumer) {
	late := &streamtest.LateSource{Source: stream.NewSource(stream.NewClient(client), client, table)}
	late.Hold(true)
	leases := NewLeases(client, table)
	return late, &stream.Consumer{
		Source: late, Leases: leases, Journal: leases, Handler: NewCounter(client, table), Logger: slog.New(slog.DiscardHandler),
		Poll: 5 * time.Millisecond, Beat: 20 * time.Millisecond,
	}
}

// Whoever wrote a comment finds it in its list for as long as the stream has yet to publish it, though nothing is counted
// there and all answers of the stream are empty. The write was 3 seconds ago, by the server's clock: so long that only what
// came through the stream since may tell that the counts know of it.
func TestACommentThatIsPublishedLateIsFound(t *testing.T) {
	client, table, ctx := NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t), t.Context()
	if err := CreateTable(ctx, client, table); err != nil {
		t.Fatal(err)
	}
	leases := NewLeases(client, table)
	if err := stream.MarkComplete(ctx, leases, stream.State{}, time.Now().Add(-4*time.Second)); err != nil {
		t.Fatal(err)
	}
	late, consumer := countsLate(client, table)
	store := NewStore(client, table)
	store.UseStatistics(workedOffOf{leases}, 5*time.Second)
	store.memory.now = func() time.Time { return time.Now().Add(-3 * time.Second) }
	written := commenttest.Random(commenttest.Rand(t), "vase")
	written.Rating, written.Version, written.UpdatedAt = 1, 1, nil
	if _, err := store.Add(ctx, written, ""); err != nil {
		t.Fatal(err)
	}
	store.memory.now = time.Now

	defer runs(t, consumer)()
	for renewals := int64(0); renewals < 8; renewals = renewalsOf(t, leases) {
		forget(store.memory.mark)
		if err := store.memory.bring(ctx, "vase"); err != nil {
			t.Fatal(err)
		}
		page, err := store.Comments(ctx, comment.Query{
			Product: "vase", Filter: comment.Filter{Ratings: []int{1}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20},
		})
		if err != nil || len(page.Comments) != 1 {
			t.Fatalf("%d comments after %d empty answers and %d renewals: %v", len(page.Comments), late.Reads(), renewals, err)
		}
	}
	late.Hold(false)
	if err := consumer.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if stats, _, err := store.StatsOf(ctx, []string{"vase"}); stats["vase"].Counts(comment.Filter{}).Total() != 1 {
		t.Errorf("once it is published, it is counted: %v, %v", stats, err)
	}
}

// forget has a watermark ask again.
func forget(mark *watermark) {
	mark.turn <- struct{}{}
	mark.asked = time.Time{}
	<-mark.turn
}

// renewalsOf is how often the lease of the only shard was written, 0 while there is none.
func renewalsOf(t *testing.T, leases *Leases) int64 {
	t.Helper()
	_, all, err := leases.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return 0
	}
	return all[0].Counter
}

// A verification waits for what is published late as long as it may, and says so when it waited in vain. That leases are
// renewed all the while and all answers of the stream are empty proves nothing.
func TestWhatIsPublishedLateIsNoDrift(t *testing.T) {
	for _, row := range []struct {
		why      string
		counts   bool
		publish  int // after so many looks at the leases
		patience time.Duration
		drifts   bool
	}{
		{"it is published in time", true, 20, time.Minute, false},
		{"it is not published in time", true, 1 << 30, 100 * time.Millisecond, true},
		{"no process has a lease", false, 0, time.Minute, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			client, table := NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
			if err := CreateTable(t.Context(), client, table); err != nil {
				t.Fatal(err)
			}
			if _, err := NewLoader(client, table, 0).Load(t.Context(), commenttest.Many(commenttest.Rand(t), "vase", 1)); err != nil {
				t.Fatal(err)
			}
			leases := NewLeases(client, table)
			late, consumer := countsLate(client, table)
			if row.counts {
				defer runs(t, consumer)()
				for renewalsOf(t, leases) < 2 {
					time.Sleep(time.Millisecond)
				}
			}
			verifier, looks := HastenVerifier(NewVerifier(client, table, 1)), 0
			verifier.patience = row.patience
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

// runs starts a consumer and returns what ends it.
func runs(t *testing.T, consumer *stream.Consumer) (end func()) {
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(running) }()
	return func() { stop(); <-ended }
}
