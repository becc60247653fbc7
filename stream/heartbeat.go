package stream

import (
	"context"
	"time"
)

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
