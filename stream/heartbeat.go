package stream

import (
	"context"
	"time"
)

// How readers know how far a shard was processed.
//
// AWS publishes records in near-real time, without a bound. So an empty answer says nothing about changes that are committed
// and not published yet. A change by the reader itself does: it writes a heartbeat, and once its record has come
// through the shard, every change of the shard that was committed before the heartbeat was sent has come through too. That
// takes for granted that a shard shows the changes of its items in the order in which they were committed.
//
// The table assigns keys to shards as it likes. So a reader tries keys until a heartbeat comes through its shard, and then
// keeps to that key, which stands in the lease for successors. When a shard has ended, its children try the key of their
// parent first; after a split only one of them finds it there, and the other tries new ones.

// Heartbeat is a small change of the table, made to see it come through the stream.
type Heartbeat struct {
	// Key is the item that carries it.
	Key string
	// Label and Shard say whose reader sent it. It may come through any shard.
	Label, Shard string
	// Counter is that of the shard's lease when the heartbeat was sent.
	Counter int64
	// Sent is when it was sent, by the sender's clock, to the millisecond and rounded down.
	Sent time.Time
}

// Heartbeats writes heartbeats and recognizes them.
type Heartbeats interface {
	// SendHeartbeat writes a heartbeat. It replaces the last one of the same key.
	SendHeartbeat(ctx context.Context, heartbeat Heartbeat) error
	// HeartbeatOf is the heartbeat that a record shows, false if it shows none.
	HeartbeatOf(record Record) (heartbeat Heartbeat, ok bool)
}
