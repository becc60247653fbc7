package stream

import (
	"maps"
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
