package leases

import (
	"time"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Attributes and keys of the items about the stream. A lease is STREAM#<label> / <shard>, a dead
// letter STREAM#<label>#ASIDE / <position>, the state STREAM / STATE.
const (
	streamPK      = "STREAM"
	streamStateSK = "STATE"

	attrLeaseParent      = "p"
	attrLeaseOwner       = "o"
	attrLeaseEngine      = "d"
	attrLeaseCheckpoint  = "k"
	attrLeaseEnded       = "e"
	attrLeaseCaughtUp    = "t"
	attrLeaseDeadLetters = "a"
	attrLeaseHeartbeat   = "h"
	attrLeaseProven      = "v"
	// attrCounter holds the counter of a lease, and the version of the state.
	attrCounter = "n"

	attrDeadLetterShard  = "s"
	attrDeadLetterKey    = "k"
	attrDeadLetterReason = "r"
	attrDeadLetterFound  = "t"
)

// leaseLifetime is how long a lease outlives its last write. By then the stream has dropped all
// records of the shard, so the lease is useless.
const leaseLifetime = 7 * 24 * time.Hour

// deadLetterLifetime is how long a dead letter is kept: long enough for people to look into it. By
// then a rebuild has counted its comment.
const deadLetterLifetime = 30 * 24 * time.Hour

func leasePK(label string) string { return streamPK + "#" + label }

func leaseItem(label string, lease stream.Lease, now time.Time) layout.Item {
	it := layout.Key(leasePK(label), lease.Shard)
	it[attrLeaseParent] = layout.Text(lease.Parent)
	it[attrLeaseOwner] = layout.Text(lease.Owner)
	it[attrLeaseEngine] = layout.Text(lease.Engine)
	it[attrCounter] = layout.Number(lease.Counter)
	it[attrLeaseCheckpoint] = layout.Text(lease.Checkpoint)
	it[attrLeaseEnded] = layout.Flag(lease.Ended)
	it[attrLeaseDeadLetters] = layout.Number(int64(lease.DeadLetters))
	it[layout.AttrTTL] = layout.Number(now.Add(leaseLifetime).Unix())
	it[attrLeaseHeartbeat] = layout.Text(lease.Heartbeat)
	it[attrLeaseProven] = layout.Number(lease.Proven)
	layout.SetOptionalTime(it, attrLeaseCaughtUp, lease.CaughtUp)
	return it
}

// mostUnproven is more than the number of heartbeats that can be under way at once.
const mostUnproven = 1 << 20

func leaseOf(it layout.Item) stream.Lease {
	r := layout.NewReader(it)
	lease := stream.Lease{
		Shard:       r.Text(layout.AttrSK),
		Parent:      r.Text(attrLeaseParent),
		Owner:       r.Text(attrLeaseOwner),
		Engine:      r.Text(attrLeaseEngine),
		Counter:     r.Number(attrCounter),
		Checkpoint:  r.Text(attrLeaseCheckpoint),
		Ended:       r.Flag(attrLeaseEnded),
		CaughtUp:    r.OptionalTime(attrLeaseCaughtUp),
		Heartbeat:   r.Text(attrLeaseHeartbeat),
		Proven:      r.Number(attrLeaseProven),
		DeadLetters: int(r.Number(attrLeaseDeadLetters)),
	}
	if lease.Counter < max(1, lease.Proven) { // damaged by hand: heartbeats that are under way must not prove later writes
		lease.Counter = lease.Proven + mostUnproven
	}
	return lease
}

// Attributes of the state.
const (
	attrStateLabel     = "l"
	attrStateComplete  = "c"
	attrStateSince     = "t"
	attrStateGapFound  = "gt"
	attrStateGapShard  = "gs"
	attrStateGapReason = "gr"
	attrStateScheduled = "s"
)

func stateItem(state stream.State) layout.Item {
	it := layout.Key(streamPK, streamStateSK)
	it[attrCounter] = layout.Number(state.Version)
	it[attrStateLabel] = layout.Text(state.Label)
	it[attrStateComplete] = layout.Flag(state.Complete)
	layout.SetOptionalTime(it, attrStateSince, state.Since)
	layout.SetOptionalTime(it, attrStateScheduled, state.Scheduled)
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

		Scheduled: r.OptionalTime(attrStateScheduled),
	}
	if it[attrStateGapReason] != nil {
		state.Gap = &stream.Gap{
			Found: r.OptionalTime(attrStateGapFound), Shard: r.Text(attrStateGapShard), Reason: r.Text(attrStateGapReason),
		}
	}
	return state
}

func deadLetterPK(label string) string { return leasePK(label) + "#ASIDE" }

func deadLetterItem(label string, letter stream.DeadLetter) layout.Item {
	it := layout.Key(deadLetterPK(label), string(letter.Position))
	it[attrDeadLetterShard] = layout.Text(letter.Shard)
	it[attrDeadLetterKey] = layout.Text(letter.Key)
	it[attrDeadLetterReason] = layout.Text(letter.Reason)
	layout.SetOptionalTime(it, attrDeadLetterFound, letter.Found)
	it[layout.AttrTTL] = layout.Number(letter.Found.Add(deadLetterLifetime).Unix())
	return it
}

func deadLetterOf(it layout.Item) stream.DeadLetter {
	r := layout.NewReader(it)
	return stream.DeadLetter{
		Shard:    r.Text(attrDeadLetterShard),
		Position: stream.Position(r.Text(layout.AttrSK)),
		Key:      r.Text(attrDeadLetterKey),
		Reason:   r.Text(attrDeadLetterReason),
		Found:    r.OptionalTime(attrDeadLetterFound),
	}
}
