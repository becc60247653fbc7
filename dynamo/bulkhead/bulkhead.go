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

	mu sync.Mutex
	// calls are those of each operation, by product.
	calls map[string]map[any]int
}

// New returns a bulkhead that lets so many operations have calls for each product in progress.
func New(most int) *Bulkhead { return &Bulkhead{most: most, calls: map[string]map[any]int{}} }

// Enter counts a call of an operation until leave is called. It returns an Overloaded error, at
// once, if too many other operations have calls for the product in progress. Operations are compared
// by identity.
func (b *Bulkhead) Enter(product string, operation any) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	operations := b.calls[product]
	if operations[operation] == 0 && len(operations) >= b.most {
		return nil, errCrowded
	}
	if operations == nil {
		operations = map[any]int{}
		b.calls[product] = operations
	}
	operations[operation]++
	return func() { b.leave(product, operation) }, nil
}

func (b *Bulkhead) leave(product string, operation any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	operations := b.calls[product]
	if operations[operation]--; operations[operation] == 0 {
		delete(operations, operation)
	}
	if len(operations) == 0 {
		delete(b.calls, product)
	}
}
