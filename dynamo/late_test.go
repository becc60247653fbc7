package dynamo

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/stream"
)

// An author finds a new comment in its list before the stream publishes it, though it is not
// counted yet and all reads of the stream return nothing. The write was 3 seconds ago by the
// server's clock. By then, only records that have since come through the stream prove that the
// counts include it.
func TestACommentThatIsPublishedLateIsFound(t *testing.T) {
	client, table, ctx := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t), t.Context()
	must.Do(t, CreateTable(ctx, client, table))
	leases := leases.NewLeases(client, table)
	must.Do(t, stream.MarkComplete(ctx, leases, stream.State{}, time.Now().Add(-4*time.Second)))
	late, consumer := streamtest.Late(client, table, leases, counts.NewCounter(client, table, counts.CounterOptions{}).Handle)
	store := NewStore(client, table, Options{Watermark: leases, StatisticsAge: 5 * time.Second})
	store.memory.now = func() time.Time { return time.Now().Add(-3 * time.Second) }
	written := commenttest.Random(commenttest.Rand(t), "vase")
	written.Rating, written.Version, written.UpdatedAt = 1, 1, nil
	must.Get(store.Add(ctx, written, ""))(t)
	store.memory.now = time.Now

	defer streamtest.Run(t, consumer)()
	for renewals := int64(0); renewals < 8; renewals = streamtest.Renewals(t, leases) {
		forget(store.memory.mark)
		must.Do(t, store.memory.fetch(ctx, "vase"))
		page, err := store.Comments(ctx, comment.Query{
			Product: "vase", Filter: comment.Filter{Ratings: []int{1}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20},
		})
		if err != nil || len(page.Comments) != 1 {
			t.Fatalf("%d comments after %d empty answers and %d renewals: %v", len(page.Comments), late.Reads(), renewals, err)
		}
	}
	late.Hold(false)
	for total := 0; total != 1; {
		stats, _, err := store.StatsOf(ctx, []string{"vase"})
		if err != nil {
			t.Fatalf("it was published, and is not counted: %v, %v", stats, err)
		}
		total = stats["vase"].Counts(comment.Filter{}).Total()
	}
}

// forget makes the store read a watermark again.
func forget(mark *watermark) {
	mark.turn <- struct{}{}
	mark.read = time.Time{}
	<-mark.turn
}

// ByClock gives a store another clock.
func ByClock(s *Store, now func() time.Time) *Store {
	s.now = now
	return s
}
