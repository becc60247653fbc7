package stream

import (
	"context"
	"time"
)

// Lease is the lease of a shard: the process that reads it, and the progress. A shard has no lease
// until its parent was read to its end.
type Lease struct {
	// Shard is the id of the shard, and Parent that of the shard before it; empty for none.
	Shard, Parent string
	// Owner is the process that reads the shard; empty for none.
	Owner string
	// Engine is the run of the local engine through which the owner took the lease. It is empty
	// where engines outlive their clients. Once a run has ended, its owners can no longer write.
	Engine string
	// Counter rises by 1 with each write; the first write makes it 1.
	Counter int64
	// Checkpoint is the sequence number of the last processed record; empty before the first.
	Checkpoint string
	// Ended is whether the shard was read to its end and its children have leases.
	Ended bool
	// CaughtUp is the watermark: every change in this shard before it was processed. It is zero if
	// unknown.
	CaughtUp time.Time
	// Heartbeat is the key of the heartbeats that come through the shard, or came through its
	// parent; empty if unknown.
	Heartbeat string
	// Proven is the lease's counter when the latest received heartbeat was sent: every change
	// committed before that write of the lease was processed. It is 0 if unknown.
	Proven int64
	// DeadLetters counts dead letters of the shard. One may count twice after a restart.
	DeadLetters int
}

// Lag returns the time since the shard's watermark; false if that is unknown.
func (l Lease) Lag(now time.Time) (lag time.Duration, known bool) {
	return max(0, now.Sub(l.CaughtUp)), !l.CaughtUp.IsZero()
}

// Leases stores leases and heartbeats for all processes.
type Leases interface {
	Heartbeats
	// List reads all leases of a stream consistently.
	List(ctx context.Context, label string) ([]Lease, error)
	// Swap writes a lease if the stored one has the owner and the counter of the old one. A counter
	// of 0 means no stored lease. It returns a Conflict error if the stored lease differs. After a
	// temporary error, the lease may or may not be written.
	Swap(ctx context.Context, label string, old, new Lease) error
}

// ProcessedUpTo returns the watermark of a stream: a time before which every change was processed;
// false if unknown. leases must be all leases of the stream: a shard without one has an ancestor
// whose lease has not ended.
func ProcessedUpTo(leases []Lease) (time.Time, bool) {
	var earliest time.Time
	for _, lease := range leases {
		switch {
		case lease.Ended:
		case lease.CaughtUp.IsZero():
			return time.Time{}, false
		case earliest.IsZero() || lease.CaughtUp.Before(earliest):
			earliest = lease.CaughtUp
		}
	}
	return earliest, !earliest.IsZero()
}

// Fence is a point in time of a stream, given by the counters of its leases instead of a clock. The
// zero value is before all leases.
type Fence map[string]int64

// FenceOf returns the Fence of the time when leases were read.
func FenceOf(leases []Lease) Fence {
	fence := make(Fence, len(leases))
	for _, lease := range leases {
		fence[lease.Shard] = lease.Counter
	}
	return fence
}

// Passed reports whether every change committed before the fence was processed, by leases that were
// read later. They must be all leases of the stream.
func (f Fence) Passed(leases []Lease) bool {
	open := false
	for _, lease := range leases {
		if lease.Ended {
			continue
		}
		if lease.Proven <= f[lease.Shard] {
			return false
		}
		open = true
	}
	return open
}

// How readers know up to what time a shard was processed.
//
// AWS publishes records in near-real time, without a bound. So an empty answer does not prove that
// all committed changes have been read. A reader's own change does: the reader writes a heartbeat
// and waits for its record. Once that record comes through the shard, so has every change of the
// shard that was committed before the heartbeat was sent. This assumes that a shard shows changes
// in the order of their commits.
//
// Clients cannot know to which shard the table assigns a key. So a reader tries keys until a
// heartbeat comes through its shard. It then keeps that key, and writes it to the lease for its
// successors. When a shard has ended, its children try the key of their parent first. After a split
// the key belongs to only one of them, and the other tries new keys.

// Heartbeat is a small change of the table, made to be seen in the stream.
type Heartbeat struct {
	// Key is the item that carries it.
	Key string
	// Label and Shard identify the reader that sent it. It may come through any shard.
	Label, Shard string
	// Counter is the counter of the shard's lease when the heartbeat was sent.
	Counter int64
	// Sent is when it was sent, by the sender's clock, rounded down to the millisecond.
	Sent time.Time
}

// Heartbeats writes heartbeats and recognizes their records.
type Heartbeats interface {
	// SendHeartbeat writes a heartbeat. It replaces the last one of the same key.
	SendHeartbeat(ctx context.Context, heartbeat Heartbeat) error
	// HeartbeatOf returns the heartbeat in a record; false if it has none.
	HeartbeatOf(record Record) (heartbeat Heartbeat, ok bool)
	// Own reports whether a record is of a heartbeat, or of another item that processes write
	// while nothing changes, such as a lease. A shard at rest has no others.
	Own(record Record) bool
}
