// Package bulkhead keeps one product from taking all places: how many operations may wait for calls
// for it at a time is bounded. Operations that want a product whose partitions are slow pile up, and
// without a bound they would hold every place of the server.
package bulkhead

import (
	"sync"

	"github.com/talkback/talkback/comment"
)

// errCrowded refuses what would wait for a product.
var errCrowded = comment.Errorf(comment.Overloaded, "too many requests wait for this product: try again in a second")

// Bulkhead counts operations with calls in progress, by product. A nil one bounds nothing. It is
// safe for concurrent use.
type Bulkhead struct {
	most int

	mu         sync.Mutex
	calls      map[caller]int
	operations map[string]int // that have calls for a product
}

// caller is an operation that has calls for a product.
type caller struct {
	product   string
	operation any
}

// New returns a bulkhead that lets so many operations have calls for each product in progress.
func New(most int) *Bulkhead {
	return &Bulkhead{most: most, calls: map[caller]int{}, operations: map[string]int{}}
}

// Enter counts a call of an operation until leave is called. It returns an Overloaded error, at
// once, if too many other operations have calls for the product in progress. Operations are compared
// by identity.
func (b *Bulkhead) Enter(product string, operation any) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	c := caller{product, operation}
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls[c]
	if calls == 0 {
		operations := b.operations[product]
		if operations >= b.most {
			return nil, errCrowded
		}
		b.operations[product] = operations + 1
	}
	b.calls[c] = calls + 1
	return func() { b.leave(c) }, nil
}

func (b *Bulkhead) leave(c caller) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if less(b.calls, c) {
		less(b.operations, c.product)
	}
}

// less takes one away from a count, and reports whether none is left. Nothing is kept of those.
func less[K comparable](counts map[K]int, of K) (none bool) {
	n := counts[of] - 1
	if n == 0 {
		delete(counts, of)
		return true
	}
	counts[of] = n
	return false
}
