package leases

import (
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Attributes and keys of what is kept about the stream. A lease is STREAM#<label> / <shard>, a record that was set aside
// STREAM#<label>#ASIDE / <position>, the state STREAM / STATE.
const (
	streamPK      = "STREAM"
	streamStateSK = "STATE"

	attrLeaseParent     = "p"
	attrLeaseOwner      = "o"
	attrLeaseEngine     = "d"
	attrLeaseCheckpoint = "k"
	attrLeaseEnded      = "e"
	attrLeaseCaughtUp   = "t"
	attrLeaseAside      = "a"
	attrLeaseHeartbeat  = "h"
	attrLeaseProven     = "v"
	// attrCounter is the counter of a lease and the version of the state.
	attrCounter = "n"

	attrAsideShard  = "s"
	attrAsideKey    = "k"
	attrAsideReason = "r"
	attrAsideFound  = "t"
)

// leaseLifetime is how long a lease outlives its last write: longer than any stream keeps a record of the shard. Then
// nothing is known of the shard any more that could be of use.
const leaseLifetime = 7 * 24 * time.Hour

// asideLifetime is how long is kept what was set aside: long enough for people to look into it. The rebuild that follows has
// counted it by then.
const asideLifetime = 30 * 24 * time.Hour

func leasePK(label string) string { return streamPK + "#" + label }

func leaseItem(label string, lease stream.Lease, now time.Time) layout.Item {
	it := layout.StreamKey(leasePK(label), lease.Shard)
	it[attrLeaseParent] = layout.Text(lease.Parent)
	it[attrLeaseOwner] = layout.Text(lease.Owner)
	it[attrLeaseEngine] = layout.Text(lease.Engine)
	it[attrCounter] = layout.Number(lease.Counter)
	it[attrLeaseCheckpoint] = layout.Text(lease.Checkpoint)
	it[attrLeaseEnded] = layout.Flag(lease.Ended)
	it[attrLeaseAside] = layout.Number(int64(lease.Aside))
	it[layout.AttrTTL] = layout.Number(now.Add(leaseLifetime).Unix())
	it[attrLeaseHeartbeat] = layout.Text(lease.Heartbeat)
	it[attrLeaseProven] = layout.Number(lease.Proven)
	layout.SetOptionalTime(it, attrLeaseCaughtUp, lease.CaughtUp)
	return it
}

func leaseOf(it layout.Item) stream.Lease {
	r := layout.NewReader(it)
	return stream.Lease{
		Shard:      r.Text(layout.AttrSK),
		Parent:     r.Text(attrLeaseParent),
		Owner:      r.Text(attrLeaseOwner),
		Engine:     r.Text(attrLeaseEngine),
		Counter:    r.Number(attrCounter),
		Checkpoint: r.Text(attrLeaseCheckpoint),
		Ended:      r.Flag(attrLeaseEnded),
		CaughtUp:   r.OptionalTime(attrLeaseCaughtUp),
		Heartbeat:  r.Text(attrLeaseHeartbeat),
		Proven:     r.Number(attrLeaseProven),
		Aside:      int(r.Number(attrLeaseAside)),
	}
}

// Attributes of the state.
const (
	attrStateLabel     = "l"
	attrStateComplete  = "c"
	attrStateSince     = "t"
	attrStateGapFound  = "gt"
	attrStateGapShard  = "gs"
	attrStateGapReason = "gr"
)

func stateItem(state stream.State) layout.Item {
	it := layout.StreamKey(streamPK, streamStateSK)
	it[attrCounter] = layout.Number(state.Version)
	it[attrStateLabel] = layout.Text(state.Label)
	it[attrStateComplete] = layout.Flag(state.Complete)
	layout.SetOptionalTime(it, attrStateSince, state.Since)
	if gap := state.Gap; gap != nil {
		layout.SetOptionalTime(it, attrStateGapFound, gap.Found)
		it[attrStateGapShard] = layout.Text(gap.Shard)
		it[attrStateGapReason] = layout.Text(gap.Reason)
	}
	return it
}

func stateOf(it layout.Item) stream.State {
	r := layout.NewReader(it)
	state := stream.State{
		Version:  r.Number(attrCounter),
		Label:    r.Text(attrStateLabel),
		Complete: r.Flag(attrStateComplete),
		Since:    r.OptionalTime(attrStateSince),
	}
	if it[attrStateGapReason] != nil {
		state.Gap = &stream.Gap{
			Found: r.OptionalTime(attrStateGapFound), Shard: r.Text(attrStateGapShard), Reason: r.Text(attrStateGapReason),
		}
	}
	return state
}

func sameState(a, b stream.State) bool {
	sameGap := a.Gap.Same(b.Gap)
	a.Gap, b.Gap = nil, nil
	return sameGap && a == b
}

func asidePK(label string) string { return leasePK(label) + "#ASIDE" }

func asideItem(label string, aside stream.Aside) layout.Item {
	it := layout.StreamKey(asidePK(label), string(aside.Position))
	it[attrAsideShard] = layout.Text(aside.Shard)
	it[attrAsideKey] = layout.Text(aside.Key)
	it[attrAsideReason] = layout.Text(aside.Reason)
	layout.SetOptionalTime(it, attrAsideFound, aside.Found)
	it[layout.AttrTTL] = layout.Number(aside.Found.Add(asideLifetime).Unix())
	return it
}

func asideOf(it layout.Item) stream.Aside {
	r := layout.NewReader(it)
	return stream.Aside{
		Shard:    r.Text(attrAsideShard),
		Position: stream.Position(r.Text(layout.AttrSK)),
		Key:      r.Text(attrAsideKey),
		Reason:   r.Text(attrAsideReason),
		Found:    r.OptionalTime(attrAsideFound),
	}
}
