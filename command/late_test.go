package command

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

// An import reports that everything is counted only when it is. It does not while the stream has
// yet to publish writes, however many answers are empty meanwhile and however often the lease was
// renewed.
func TestNothingIsCountedBeforeItIsPublished(t *testing.T) {
	t.Parallel()
	session := &Session{Client: call.NewLocalClient(dynamotest.Dynoxide(t)), Table: dynamotest.TableName(t), command: "talkback import"}
	must.Do(t, dynamo.CreateTable(t.Context(), session.Client, session.Table))
	leases := leases.NewLeases(session.Client, session.Table)
	pages := must.Get(openPages(t.Context(), keeper.Target{Name: keeper.InTable}, session, slog.New(slog.DiscardHandler)))(t)
	runner := newCounting(session, pages, nil, slog.New(slog.DiscardHandler))
	runner.Prepare(t.Context())
	late := &streamtest.LateSource{Source: runner.Consumer.Source}
	runner.Consumer.Source = late

	written, done := make(chan struct{}), make(chan error, 1)
	work := func(ctx context.Context) error {
		defer close(written)
		for !isRead(ctx, leases) {
			_ = task.Wait(ctx, time.Millisecond)
		}
		late.Hold(true)
		_, err := dynamo.NewLoader(session.Client, session.Table, 0).Load(ctx, commenttest.Many(commenttest.Rand(t), "vase", 5))
		return err
	}
	go func() {
		_, err := runner.Until(t.Context(), work, func(counts.Backlog) {})
		done <- err
	}()
	<-written
	for from := writesOf(t, leases); late.Reads() < 20 || writesOf(t, leases) < from+5; time.Sleep(time.Millisecond) {
		select {
		case err := <-done:
			t.Fatal("all is said to be counted, and nothing was published yet", err)
		default:
		}
	}
	late.Hold(false)
	must.Do(t, <-done)
	stats, _, err := dynamo.NewStore(session.Client, session.Table, dynamo.Options{}).StatsOf(t.Context(), []string{"vase"})
	if total := stats["vase"].Counts(comment.Filter{}).Total(); total != 5 || err != nil {
		t.Errorf("%d comments are counted, want 5: %v", total, err)
	}
}

// A difference that may only await counting is mentioned beside drifts, and nowhere else.
func TestVerifyTellsWhatIsUnproven(t *testing.T) {
	t.Parallel()
	drifts := []counts.Drift{{Product: "vase", Kind: counts.FurtherMarkers}}
	for _, row := range []struct {
		found counts.Verified
		tells bool
	}{
		{counts.Verified{Drifts: drifts, Unproven: true}, true},
		{counts.Verified{Drifts: drifts}, false},
		{counts.Verified{Unproven: true}, false},
	} {
		var out strings.Builder
		_ = printVerified(&out, row.found, 0) // drift is an error
		if strings.Contains(out.String(), "not counted yet") != row.tells {
			t.Errorf("%+v: %s", row.found, &out)
		}
	}
}

// isRead reports whether it is known how far the stream was processed. A heartbeat that arrived
// makes it known.
func isRead(ctx context.Context, leases *leases.Leases) bool {
	_, all, err := leases.Current(ctx)
	_, known := stream.ProcessedUpTo(all)
	return known || err != nil
}

// writesOf returns how often the lease was written.
func writesOf(t *testing.T, leases *leases.Leases) int64 {
	t.Helper()
	_, all, err := leases.Current(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0].Counter
}
