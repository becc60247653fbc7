// Package bulkhead keeps one product from taking all places: how many calls may be in progress for
// it at a time is bounded. Calls for a product whose partitions are slow pile up, and without a
// bound they would hold every place of the server.
package bulkhead

import (
	"sync"

	"github.com/talkback/talkback/comment"
)

// Bulkhead counts calls in progress by product. A nil one bounds nothing. It is safe for concurrent
// use.
type Bulkhead struct {
	most int

	mu    sync.Mutex
	calls map[string]int
}

// New returns a bulkhead that lets so many calls for each product be in progress.
func New(most int) *Bulkhead { return &Bulkhead{most: most, calls: map[string]int{}} }

// Enter counts a call until leave is called. It returns an Overloaded error, at once, if too many
// calls for the product are in progress.
func (b *Bulkhead) Enter(product string) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls[product] >= b.most {
		return nil, comment.Errorf(comment.Overloaded, "too many requests wait for the comments of this product: try again in a second")
	}
	b.calls[product]++
	return func() { b.leave(product) }, nil
}

func (b *Bulkhead) leave(product string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls[product]--; b.calls[product] == 0 {
		delete(b.calls, product)
	}
}
