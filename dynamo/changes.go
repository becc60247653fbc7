package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// changes remembers when each product was last changed, for a bounded number of products. A product
// that is not among them counts as changed when the last dropped one was. It is safe for use by
// many goroutines.
type changes struct {
	mu       sync.Mutex
	products *simplelru.LRU[string, change]
	dropped  change // the latest that was dropped for others
	noted    uint64 // how many changes there were
}

// change is when a product was changed, and the number of that change.
type change struct {
	at     time.Time
	number uint64
}

func newChanges() *changes {
	c := &changes{}
	c.products = newLRU(remembered, func(_ string, dropped change) {
		c.dropped = change{at: latest(c.dropped.at, dropped.at), number: max(c.dropped.number, dropped.number)}
	})
	return c
}

// note notes that a product was changed at a moment.
func (c *changes) note(product string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted++
	c.products.Add(product, change{at, c.noted})
}

// last is the latest time at which a product may have been changed.
func (c *changes) last(product string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, _ := c.products.Get(product)
	return latest(last.at, c.dropped.at)
}

// number grows with each change of a product. It may also grow without one.
func (c *changes) number(product string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, known := c.products.Peek(product); known {
		return last.number
	}
	return c.dropped.number
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// remembered is how many products a Store remembers something of, some 300 bytes each, and how many
// pages it knows the contents of.
const remembered = 10_000

// newLRU returns a cache that holds at most size values; size is at least one. It calls dropped,
// unless that is nil, for each value it evicts.
func newLRU[K comparable, V any](size int, dropped func(K, V)) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU(size, dropped)
	if err != nil {
		panic("dynamo: " + err.Error()) // the size is above 0
	}
	return lru
}
