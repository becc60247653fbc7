package dynamo

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// changes remembers when products were last changed. It holds memorySize of them; what had to make place counts against
// all others. The zero value is not ready for use, and who uses it sees to its lock.
type changes struct {
	products *simplelru.LRU[string, time.Time]
	dropped  time.Time // the latest change that had to make place
}

func newChanges() *changes {
	c := &changes{}
	c.products = newLRU(memorySize, func(_ string, at time.Time) { c.dropped = latest(c.dropped, at) })
	return c
}

// note notes that a product was changed at a moment.
func (c *changes) note(product string, at time.Time) { c.products.Add(product, at) }

// last is when a product was changed at the latest, as far as that matters.
func (c *changes) last(product string) time.Time {
	at, _ := c.products.Get(product)
	return latest(at, c.dropped)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
