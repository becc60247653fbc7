package httpapi

import (
	"slices"
	"sync"
	"time"
)

// budget counts the bytes that clients make the server hold, and keeps them below a bound: answers
// that they have not read, or requests that they have not sent completely.
//
// New bytes are never refused. To make room for them, the budget gives up the clients that hold
// most for longest, which read or send slowly or not at all. Safe for concurrent use.
type budget struct {
	max int // bytes
	now func() time.Time

	mu    sync.Mutex
	total int
	held  []*held // in no particular order
}

// client is what a client holds of a budget. The zero value holds nothing.
type client struct{ bytes int } // guarded by the budget

// held is an answer or a request in transit.
type held struct {
	by     *client
	at     int // among all that is held, -1 once it is not held any more
	bytes  int
	since  time.Time
	giveUp func() // frees the bytes soon; called with the budget locked, so it must not block
}

func newBudget(limit int) *budget {
	return &budget{max: limit, now: time.Now}
}

// clientShare is the divisor of the budget for one client: a client that holds more than
// 1/clientShare of it has its further requests refused. A proxy may send thousands of clients'
// requests over one connection, and reads their answers as they come.
const clientShare = 8

// full reports whether a client has to read before it may ask for more.
func (b *budget) full(of *client) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return of.bytes > b.max/clientShare
}

// add counts what a client holds until it is removed. It returns nil when that client itself was
// given up to make room.
func (b *budget) add(by *client, size int, giveUp func()) *held {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := &held{by: by, at: len(b.held), since: b.now(), giveUp: giveUp}
	b.held = append(b.held, added)
	b.change(added, size)
	if !b.makeRoom(added) {
		return nil
	}
	return added
}

// grow counts further bytes. It reports whether they are still held: their client may have been
// given up before, or to make room for them.
func (b *budget) grow(h *held, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.at < 0 {
		return false
	}
	b.change(h, size)
	return b.makeRoom(h)
}

// makeRoom gives up clients until the rest fits, or only the latest is left. It reports whether the
// latest is left.
func (b *budget) makeRoom(latest *held) bool {
	for b.total > b.max {
		slowest := b.slowest(latest)
		if slowest == nil {
			break
		}
		for _, h := range slices.Clone(b.held) { // all that this client holds
			if h.by == slowest {
				b.forget(h)
				h.giveUp()
			}
		}
	}
	return latest.at >= 0
}

// slowest returns the client with the largest sum of bytes times time, nil if there is only the
// latest. Bytes alone would hit the client that reads a large answer, time alone the one that reads
// a small answer over a bad line.
func (b *budget) slowest(latest *held) *client {
	now := b.now()
	costs := map[*client]int{}
	for _, h := range b.held {
		if h != latest {
			costs[h.by] += h.cost(now)
		}
	}
	var worst *client
	for by, cost := range costs {
		if worst == nil || cost > costs[worst] {
			worst = by
		}
	}
	return worst
}

// cost returns bytes times milliseconds.
func (h *held) cost(now time.Time) int {
	return h.bytes * (int(now.Sub(h.since)/time.Millisecond) + 1)
}

// remove ends the counting of what was sent or received completely. It reports false when that was
// given up before.
func (b *budget) remove(h *held) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forget(h)
}

func (b *budget) forget(h *held) (there bool) {
	if h.at < 0 {
		return false
	}
	end := len(b.held) - 1
	last := b.held[end]
	b.held[h.at], last.at = last, h.at
	b.held = slices.Delete(b.held, end, end+1)
	h.at = -1
	b.change(h, -h.bytes)
	return true
}

// change updates the sums.
func (b *budget) change(h *held, size int) {
	h.bytes += size
	b.total += size
	h.by.bytes += size
}
