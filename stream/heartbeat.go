package stream

import (
	"context"
	"strconv"
	"time"
)

// How readers know how far a shard was processed.
//
// AWS publishes records in near-real time, without a bound. So an empty answer says nothing about changes that are committed
// and not published yet. What does is a change of one's own: a reader writes a heartbeat, and once its record has come
// through the shard, every change of the shard that was committed before the heartbeat was sent has come through too. That
// takes for granted that a shard shows the changes of its items in the order in which they were committed.
//
// The table assigns keys to shards as it likes. So a reader tries keys until a heartbeat comes through its shard, and then
// keeps to that key, which stands in the lease for successors. When a shard has ended, its children try the key of their
// parent first; after a split only one of them finds it there, and the other tries new ones.

const (
	// heartbeatKeys is how many keys there are to try, so that the items of an engine that expires none are bounded.
	heartbeatKeys = 1 << 20
	// keysAtOnce is how many keys a reader tries at first while it knows none: 4 is the number of shards of a new table on
	// AWS. With each heartbeat that was in vain it tries twice as many, up to mostKeysAtOnce: of many shards, the last to
	// find a key is alone in trying.
	keysAtOnce     = 4
	mostKeysAtOnce = 64
	// heartbeatsLost is how many heartbeats in a row have to be overdue for other keys to be tried.
	heartbeatsLost = 3
)

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
	SendHeartbeat(ctx context.Context, beat Heartbeat) error
	// HeartbeatOf is the heartbeat that a record shows, false if it shows none.
	HeartbeatOf(record Record) (beat Heartbeat, ok bool)
}

// nextKeys are the keys of the next heartbeat. The number drawn is below the one given.
func (p progress) nextKeys(draw func(below int64) int64) []string {
	var keys []string
	if p.key != "" {
		keys = append(keys, p.key)
	}
	missed := p.overdue
	if p.key != "" {
		missed -= heartbeatsLost
	}
	if missed < 0 {
		return keys
	}
	for range min(keysAtOnce<<min(missed, 10), mostKeysAtOnce) {
		keys = append(keys, strconv.FormatInt(draw(heartbeatKeys), 10))
	}
	return keys
}

// sent is the progress after a heartbeat was sent. While older records are still to be read, none can be overdue.
func (p progress) sent() progress {
	if !p.behind {
		p.overdue++
	}
	return p
}

// heard is the progress after a heartbeat came through, behind all records before it. Any one shows a key that leads to the
// shard; what one proves is told by the clock and the lease of its own sender, so only the shard's own are believed.
func (p progress) heard(beat Heartbeat, own bool) progress {
	if p.key == "" || p.overdue >= heartbeatsLost {
		p.key = beat.Key
	}
	if p.key == beat.Key {
		p.overdue = 0
	}
	if !own {
		return p
	}
	p.proven = max(p.proven, beat.Counter)
	return p.caughtUpAt(beat.Sent)
}

// sendHeartbeat sends a heartbeat and waits a moment for it to come through, so that the lease which is written next is fresh.
func (r *reader) sendHeartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.expiry/2) // the lease is to be renewed whatever becomes of the heartbeat
	defer cancel()
	select {
	case <-r.heard: // an earlier one
	default:
	}
	for _, beat := range r.nextHeartbeats() {
		if err := r.Leases.SendHeartbeat(ctx, beat); err != nil {
			return err
		}
	}
	timer := time.NewTimer(r.beat / 4)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-r.heard:
	}
	return nil
}

// nextHeartbeats are the heartbeats to send now: one, or one for each key that is tried.
func (r *reader) nextHeartbeats() []Heartbeat {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.progress.nextKeys(func(below int64) int64 { return int64(r.random(time.Duration(below))) })
	r.progress = r.progress.sent()
	beats := make([]Heartbeat, len(keys))
	for i, key := range keys {
		beats[i] = Heartbeat{Key: key, Label: r.label, Shard: r.lease.Shard, Counter: r.lease.Counter, Sent: time.Now()}
	}
	return beats
}

// hear takes note of the heartbeats among records that were processed.
func (r *reader) hear(records []Record) {
	shard := r.status().Shard
	for _, record := range records {
		beat, ok := r.Leases.HeartbeatOf(record)
		if !ok {
			continue
		}
		own := beat.Label == r.label && beat.Shard == shard
		r.advance(func(p progress) progress { return p.heard(beat, own).intoReach(time.Now()) })
		if own {
			select {
			case r.heard <- struct{}{}:
			default:
			}
		}
	}
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
