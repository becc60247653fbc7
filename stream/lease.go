package stream

import (
	"context"
	"time"
)

// Lease is who reads a shard and how far it was read. A shard whose parent was not read to its end has none.
type Lease struct {
	// Shard is the shard, and Parent the one before it, empty for none.
	Shard, Parent string
	// Owner is the process that reads the shard, empty for none.
	Owner string
	// Engine is the run of the engine through which the owner took the lease, empty where an engine does not end with those
	// who use it. An owner that came through a run which has ended can write no more.
	Engine string
	// Counter rises by 1 with each write, the first of which makes it 1.
	Counter int64
	// Checkpoint is the sequence number of the last record that was processed, empty before any was.
	Checkpoint string
	// Ended says that the shard was read to its end, and that its children have leases.
	Ended bool
	// CaughtUp is a time before which every change in this shard was processed. Zero: unknown.
	CaughtUp time.Time
	// Heartbeat is the key of the heartbeats that come through the shard, or came through its parent; empty while none is
	// known.
	Heartbeat string
	// Proven is the counter of the lease when the last heartbeat that came through was sent: every change that was
	// committed before that write of the lease was processed. 0: unknown.
	Proven int64
	// DeadLetters is how often records of the shard were dead-lettered; one may have been so again after a restart.
	DeadLetters int
}

// Lag is how long ago the shard was last known to be processed, false when that is unknown.
func (l Lease) Lag(now time.Time) (lag time.Duration, known bool) {
	return max(0, now.Sub(l.CaughtUp)), !l.CaughtUp.IsZero()
}

// Leases keeps leases where all processes see them, and heartbeats.
type Leases interface {
	Heartbeats
	// List reads all leases of a stream, each as it was last written.
	List(ctx context.Context, label string) ([]Lease, error)
	// Swap writes a lease if it has the owner and the counter of the old one, or is not there and that counter is 0. The
	// error is of the kind Conflict when it has others. An error of a kind that may pass leaves the outcome open.
	Swap(ctx context.Context, label string, old, new Lease) error
}

// ProcessedUpTo is a time before which every change was processed, false when that is unknown. The leases must be all of
// their stream: a shard without one has an ancestor with one that has not ended.
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

// Fence is a moment in the life of a stream that no clock tells: by how often the leases had been written. The zero value
// stands before all leases.
type Fence map[string]int64

// FenceOf is the moment at which leases were read.
func FenceOf(leases []Lease) Fence {
	fence := make(Fence, len(leases))
	for _, lease := range leases {
		fence[lease.Shard] = lease.Counter
	}
	return fence
}

// Passed tells whether every change that was committed before the fence was processed, by what leases say later. They must
// be all of their stream. A heartbeat that was sent after a later write of the lease was sent after the fence.
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
