package httpapi

import (
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
	held  map[*held]struct{}
	by    map[any]int // bytes by client
}

// held is an answer or a request in transit.
type held struct {
	by     any // the client, compared by identity: a *connection
	bytes  int
	since  time.Time
	giveUp func() // frees the bytes soon; called with the budget locked, so it must not block
}

func newBudget(limit int) *budget {
	return &budget{max: limit, now: time.Now, held: map[*held]struct{}{}, by: map[any]int{}}
}

// clientShare is the part of the budget, one in so many, that one client may hold before its
// further requests are refused. A proxy may send thousands of clients' requests over one
// connection, and reads their answers as they come.
const clientShare = 8

// full reports whether a client has to read before it may ask for more.
func (b *budget) full(client any) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.by[client] > b.max/clientShare
}

// add counts what a client holds until it is removed. It returns nil when that client itself was
// given up to make room.
func (b *budget) add(client any, size int, giveUp func()) *held {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := &held{by: client, since: b.now(), giveUp: giveUp}
	b.held[added] = struct{}{}
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
	if _, there := b.held[h]; !there {
		return false
	}
	b.change(h, size)
	return b.makeRoom(h)
}

// makeRoom gives up clients until the rest fits, or only the latest is left. It reports whether the
// latest is left.
func (b *budget) makeRoom(latest *held) bool {
	for b.total > b.max {
		client := b.slowest(latest)
		if client == nil {
			break
		}
		b.drop(client)
	}
	_, there := b.held[latest]
	return there
}

// slowest returns the client with the largest sum of bytes times time, nil if there is only the
// latest. Bytes alone would hit the client that reads a large answer, time alone the one that reads
// a small answer over a bad line.
func (b *budget) slowest(latest *held) any {
	now := b.now()
	costs := map[any]int{}
	for h := range b.held {
		if h != latest {
			costs[h.by] += h.cost(now)
		}
	}
	var worst any
	for client, cost := range costs {
		if worst == nil || cost > costs[worst] {
			worst = client
		}
	}
	return worst
}

// cost returns bytes times milliseconds.
func (h *held) cost(now time.Time) int {
	return h.bytes * (int(now.Sub(h.since)/time.Millisecond) + 1)
}

// drop gives up everything that a client holds.
func (b *budget) drop(client any) {
	for h := range b.held {
		if h.by == client {
			b.forget(h)
			h.giveUp()
		}
	}
}

// remove ends the counting of what was sent or received completely. It reports false when that was
// given up before.
func (b *budget) remove(h *held) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forget(h)
}

func (b *budget) forget(h *held) (there bool) {
	if _, there = b.held[h]; there {
		delete(b.held, h)
		b.change(h, -h.bytes)
	}
	return there
}

// change updates the sums.
func (b *budget) change(h *held, size int) {
	h.bytes += size
	b.total += size
	if b.by[h.by] += size; b.by[h.by] == 0 {
		delete(b.by, h.by)
	}
}
