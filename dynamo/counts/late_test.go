package counts_test

import (
	"context"
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
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
			client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
			must.Do(t, dynamo.CreateTable(t.Context(), client, table))
			must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), commenttest.Many(commenttest.Rand(t), "vase", 1)))(t)
			leases := leases.NewLeases(client, table)
			late, consumer := streamtest.Late(client, table, leases, counts.NewCounter(client, table, counts.CounterOptions{}))
			if row.counts {
				defer streamtest.Run(t, consumer)()
				for streamtest.Renewals(t, leases) < 2 {
					time.Sleep(time.Millisecond)
				}
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
