package stream

import (
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

func (rs *readers) add(shard string, r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byShard == nil {
		rs.byShard = map[string]*reader{}
	}
	rs.byShard[shard] = r
}

// reap removes readers that are done.
func (rs *readers) reap() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for shard, r := range rs.byShard {
		select {
		case <-r.done:
			delete(rs.byShard, shard)
		default:
		}
	}
}

func (rs *readers) leave() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.byShard {
		r.leave()
	}
}

// of returns the reader of a shard; nil if there is none.
func (rs *readers) of(shard string) *reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.byShard[shard]
}

func (rs *readers) held() map[string]bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	held := make(map[string]bool, len(rs.byShard))
	for shard := range rs.byShard {
		held[shard] = true
	}
	return held
}

// processedUpTo implements Consumer.ProcessedUpTo, with leases that were read at most maxAge ago. A
// shard that ended since then still counts with its watermark, because the leases of its children,
// which begin with it, were not read yet.
func (rs *readers) processedUpTo(maxAge time.Duration) (before time.Time, known, current bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.seen.at.IsZero() || time.Since(rs.seen.at) > maxAge {
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

// follows implements Consumer.Follows, with leases that were read at most maxAge ago.
func (rs *readers) follows(maxAge time.Duration) (since, upTo time.Time, ok bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := time.Now()
	if rs.seen.at.IsZero() || now.Sub(rs.seen.at) > maxAge || !rs.seen.complete {
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
