package dynamo

import (
	"sync"

	"github.com/talkback/talkback/comment"
)

// errCrowded refuses what would wait for a product.
var errCrowded = comment.Errorf(comment.Overloaded, "too many requests wait for this product: try again in a second")

// bulkhead keeps one product from taking all places: operations that want a product whose partitions
// are slow pile up, and without a bound they would hold every place of the server. It counts
// operations with calls in progress, by product. A nil one bounds nothing. It is safe for concurrent
// use.
type bulkhead struct {
	most int

	mu         sync.Mutex
	calls      map[productOperation]int
	operations map[string]int // that have calls for a product
}

// productOperation is an operation that has calls for a product.
type productOperation struct {
	product   string
	operation any
}

// newBulkhead returns a bulkhead that lets at most the given number of operations have calls for
// one product in progress.
func newBulkhead(most int) *bulkhead {
	return &bulkhead{most: most, calls: map[productOperation]int{}, operations: map[string]int{}}
}

// enter counts a call of an operation until leave is called. It returns an Overloaded error, at
// once, if too many other operations have calls for the product in progress. Operations are compared
// by identity.
func (b *bulkhead) enter(product string, operation any) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	c := productOperation{product, operation}
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
	return func() { b.end(c) }, nil
}

func (b *bulkhead) end(c productOperation) {
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

// batches counts batches in progress by the products in them. One slow product holds up its whole
// batch, so without a bound the batches with it would hold every place of the server. A nil one
// bounds nothing. It is safe for concurrent use.
type batches struct {
	most int

	mu sync.Mutex
	of map[string]int // how many batches have a product, none with 0
}

// newBatches bounds the batches in progress that contain the same product; most is the bound.
func newBatches(most int) *batches { return &batches{most: most, of: map[string]int{}} }

// enter begins a batch of different products. It returns those that are not in too many other
// batches, for which the caller calls leave, and an Overloaded error for each of the others.
func (b *batches) enter(products []string) (in []string, refused map[string]error) {
	refused = map[string]error{}
	if b == nil {
		return products, refused
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	in = make([]string, 0, len(products))
	for _, product := range products {
		if b.of[product] >= b.most {
			refused[product] = errCrowded
			continue
		}
		b.of[product]++
		in = append(in, product)
	}
	return in, refused
}

// leave ends a batch.
func (b *batches) leave(in []string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, product := range in {
		if b.of[product]--; b.of[product] == 0 {
			delete(b.of, product)
		}
	}
}
