package httpapi

import (
	"sync"
	"time"
)

// budget counts the bytes that clients make the server hold, and keeps them below a bound: answers that they have not read, or
// requests that they have not sent in full. What does not fit is taken all the same: the connections that make others wait are
// given up for it. Those are clients that do not read or send, or hardly, so nobody who does is ever refused for them. Safe
// for concurrent use.
type budget struct {
	max int // bytes
	now func() time.Time

	mu    sync.Mutex
	total int
	held  map[*held]struct{}
	by    map[*connection]int // bytes
}

// held is an answer or a request on its way.
type held struct {
	by     *connection
	bytes  int
	since  time.Time
	giveUp func() // frees the bytes soon; called with the budget locked, so it cannot wait for anything
}

func newBudget(limit int) *budget {
	return &budget{max: limit, now: time.Now, held: map[*held]struct{}{}, by: map[*connection]int{}}
}

// connectionShare is the part of all unsent bytes that one connection may leave unread before its further requests are
// refused. A proxy may send those of thousands of clients over one connection, and reads as they come.
const connectionShare = 8

// full tells whether a connection has to read before it may ask for more.
func (b *budget) full(c *connection) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.by[c] > b.max/connectionShare
}

// add counts what a connection holds until it is removed. It is nil when the connection was given up to make room.
func (b *budget) add(by *connection, size int, giveUp func()) *held {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := &held{by: by, since: b.now(), giveUp: giveUp}
	b.held[added] = struct{}{}
	b.change(added, size)
	if !b.makeRoom(added) {
		return nil
	}
	return added
}

// grow counts further bytes. It is false when what they belong to was given up, now or before.
func (b *budget) grow(h *held, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.held[h]; !there {
		return false
	}
	b.change(h, size)
	return b.makeRoom(h)
}

// makeRoom gives up connections until what is left is within the bound or is the latest alone. It is false when the latest is
// among what was given up.
func (b *budget) makeRoom(latest *held) bool {
	for b.total > b.max {
		c := b.slowest(latest)
		if c == nil {
			break
		}
		b.drop(c)
	}
	_, there := b.held[latest]
	return there
}

// slowest is the connection that holds most bytes for longest: the sum of bytes times time. Bytes alone would hit the one
// who reads a large answer, time alone the one who reads a small answer over a bad line. Nil when only the latest is there.
func (b *budget) slowest(latest *held) *connection {
	now := b.now()
	costs := map[*connection]int{}
	for h := range b.held {
		if h != latest {
			costs[h.by] += h.cost(now)
		}
	}
	var worst *connection
	for c, cost := range costs {
		if worst == nil || cost > costs[worst] {
			worst = c
		}
	}
	return worst
}

// cost is what others wait for: bytes times milliseconds.
func (h *held) cost(now time.Time) int {
	return h.bytes * (int(now.Sub(h.since)/time.Millisecond) + 1)
}

// drop gives up all that a connection holds.
func (b *budget) drop(c *connection) {
	for h := range b.held {
		if h.by == c {
			b.forget(h)
			h.giveUp()
		}
	}
}

// remove ends the counting of what was sent or received. It is false when that was given up.
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

// change keeps the sums.
func (b *budget) change(h *held, size int) {
	h.bytes += size
	b.total += size
	if b.by[h.by] += size; b.by[h.by] == 0 {
		delete(b.by, h.by)
	}
}
