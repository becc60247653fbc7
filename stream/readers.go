package stream

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// readers holds the readers of a process, and the leases as it last read them. The zero value has
// none. It is safe for concurrent use.
type readers struct {
	mu      sync.Mutex
	byShard map[string]*reader
	seen    sighted
}

// sighted has the leases and the state as a process last read them.
type sighted struct {
	at     time.Time // zero while it does not run
	leases []Lease
	// complete is whether these are all leases of the stream and no gap is known.
	complete bool
}

// see stores the leases that were just read.
func (rs *readers) see(now sighted) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.seen = now
}

// set sets the reader of a shard; nil for none.
func (rs *readers) set(shard string, r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byShard == nil {
		rs.byShard = map[string]*reader{}
	}
	if rs.byShard[shard] = r; r == nil {
		delete(rs.byShard, shard)
	}
}

// held returns the readers by their shards.
func (rs *readers) held() map[string]*reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return maps.Clone(rs.byShard)
}

// Status returns the leases that this process holds, in the order of their shards. Each includes
// the progress since it was last written.
func (c *Consumer) Status() []Lease {
	status := []Lease{}
	for _, r := range c.readers.held() {
		status = append(status, r.status())
	}
	slices.SortFunc(status, func(a, b Lease) int { return cmp.Compare(a.Shard, b.Shard) })
	return status
}

// recent reports whether the leases were read at most a few times Heartbeat ago. The caller holds
// the lock of the readers.
func (c *Consumer) recent() bool {
	return time.Since(c.readers.seen.at) <= 3*c.heartbeat()
}

// SawGap reports whether the state was not complete, a few times Heartbeat ago at most.
func (c *Consumer) SawGap() bool {
	c.readers.mu.Lock()
	defer c.readers.mu.Unlock()
	return c.recent() && !c.readers.seen.complete
}

// ProcessedUpTo returns the watermark without a call: a time before which every change was
// processed. It combines the shards that this process reads with the leases of other processes,
// read up to a few times Heartbeat ago. known is false while the state is not complete, a shard has
// no lease yet, or the clock of another process is too far ahead. current is false unless the
// process runs and has recently read the leases.
//
// A shard that ended since then still counts with its watermark, because the leases of its
// children, which begin with it, were not read yet.
func (c *Consumer) ProcessedUpTo() (before time.Time, known, current bool) {
	rs := &c.readers
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !c.recent() {
		return time.Time{}, false, false
	}
	leases := slices.Clone(rs.seen.leases)
	for i, lease := range leases {
		if r := rs.byShard[lease.Shard]; r != nil {
			leases[i] = r.status()
			leases[i].Ended = lease.Ended
		}
	}
	before, known = ProcessedUpTo(leases)
	now := time.Now()
	if !known || !rs.seen.complete || before.Sub(now) > clockMargin {
		return time.Time{}, false, true
	}
	if before.After(now) { // by the clock of another process
		before = now
	}
	return before, true, true
}

// Follows reports whether this process alone reads all shards. If so, its Handler has received
// every change committed between since and upTo. It makes no call, like ProcessedUpTo. When a shard
// splits, since begins anew.
func (c *Consumer) Follows() (since, upTo time.Time, ok bool) {
	rs := &c.readers
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := time.Now()
	if !c.recent() || !rs.seen.complete {
		return since, upTo, false
	}
	for _, lease := range rs.seen.leases {
		if lease.Ended {
			continue
		}
		r := rs.byShard[lease.Shard]
		if r == nil {
			return since, upTo, false
		}
		caughtUp := r.status().CaughtUp
		if caughtUp.IsZero() || caughtUp.Sub(now) > clockMargin {
			return since, upTo, false
		}
		if upTo.IsZero() || caughtUp.Before(upTo) {
			upTo = caughtUp
		}
		if r.since.After(since) {
			since = r.since
		}
	}
	return since, upTo, !upTo.IsZero()
}
