package leases

import (
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// Items about the stream are in no index. They would appear there as a comment of a list, or as a
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

// A heartbeat is recognized by its item when it is written. Its expiry is none, and neither are
// leases, states and comments. Otherwise their shards would count as proven. All but comments are
// written while nothing changes, or no shard would come to rest.
func TestHeartbeatsAmongRecords(t *testing.T) {
	sent := stream.Heartbeat{Key: "17", Label: "label", Shard: "s", Counter: 3, Sent: time.Now().UTC().Truncate(time.Millisecond)}
	it, now := heartbeatItem(sent), time.Now()
	lease := leaseItem("label", stream.Lease{Shard: "s", CaughtUp: now}, now)
	progress := layout.HookProgressKey("hook")
	written := layout.Encode(commenttest.Many(commenttest.Rand(t), "pan", 1)[0])
	for what, row := range map[string]struct {
		before, after layout.Item
		shows, own    bool
	}{
		"a heartbeat":           {nil, it, true, true},
		"another on the same":   {it, it, true, true},
		"its expiry":            {it, nil, false, true},
		"a lease":               {nil, lease, false, true},
		"the state":             {nil, stateItem(stream.State{Label: "label"}), false, true},
		"how far a hook came":   {progress, progress, false, true},
		"a comment":             {nil, written, false, false},
		"a comment was removed": {written, nil, false, false},
	} {
		of := row.after
		if of == nil {
			of = row.before
		}
		keys := layout.Item{layout.AttrPK: of[layout.AttrPK], layout.AttrSK: of[layout.AttrSK]}
		record := stream.Record{Keys: keys, Old: row.before, New: row.after}
		got, shows := (&Leases{}).HeartbeatOf(record)
		if want := map[bool]stream.Heartbeat{true: sent}[row.shows]; shows != row.shows || got != want {
			t.Errorf("%s: %+v, %t", what, got, shows)
		}
		if own := (&Leases{}).Own(record); own != row.own {
			t.Errorf("%s: written while nothing changes: %t", what, own)
		}
	}
}
