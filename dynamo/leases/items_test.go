package leases

import (
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// Items about the stream are in no index. There, they would appear as a comment of a list or as a
// product of a leaderboard.
func TestNothingIsInAnIndex(t *testing.T) {
	now := time.Now()
	for kind, it := range map[string]layout.Item{
		"lease":         leaseItem("label", stream.Lease{Shard: "s", CaughtUp: now}, now),
		"heartbeat":     heartbeatItem(stream.Heartbeat{Key: "1", Label: "label", Shard: "s", Counter: 1, Sent: now}),
		"state":         stateItem(stream.State{Label: "label", Since: now, Gap: &stream.Gap{Found: now}}),
		"dead-lettered": deadLetterItem("label", stream.DeadLetter{Found: now}),
	} {
		if got := dynamotest.IndexAttributes(layout.Definition("t"), it); len(got) > 0 {
			t.Errorf("%s has %v", kind, got)
		}
	}
}
