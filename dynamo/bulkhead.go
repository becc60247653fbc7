package dynamo

import (
	"sync"

	"github.com/talkback/talkback/comment"
)

// errCrowded refuses an operation that would wait for a crowded product.
var errCrowded = comment.Errorf(comment.Overloaded, "too many requests wait for this product: try again in a second")

// bulkhead keeps one slow product from occupying the whole server: operations pile up on its
// partitions, and without a bound they would take every slot. It counts operations with calls in
// progress, by product. A nil bulkhead bounds nothing. It is safe for concurrent use.
type bulkhead struct {
	most int // operations that may have calls for one product in progress

	mu    sync.Mutex
	calls map[string]map[any]int // calls in progress, by product and operation; never 0
}

func newBulkhead(most int) *bulkhead { return &bulkhead{most: most, calls: map[string]map[any]int{}} }

// enter counts a call of an operation until leave is called. It returns an Overloaded error, at
// once, if too many other operations have calls for the product in progress. Operations are
// compared by identity.
func (b *bulkhead) enter(product string, operation any) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls[product]
	if calls[operation] == 0 && len(calls) >= b.most {
		return nil, errCrowded
	}
	if calls == nil {
		calls = map[any]int{}
		b.calls[product] = calls
	}
	calls[operation]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		calls := b.calls[product]
		if calls[operation]--; calls[operation] == 0 {
			delete(calls, operation)
		}
		if len(calls) == 0 {
			delete(b.calls, product)
		}
	}, nil
}

// enterBatch begins a batch of different products, all of which a slow one would hold up. It admits
// products that are not in too many other batches, and counts them until leave is called. refused
// has an Overloaded error for each of the others.
func (b *bulkhead) enterBatch(products []string) (in []string, refused map[string]error, leave func()) {
	batch, leaves := new(byte), make([]func(), 0, len(products))
	refused = map[string]error{}
	for _, product := range products {
		leave, err := b.enter(product, batch)
		if err != nil {
			refused[product] = err
			continue
		}
		in, leaves = append(in, product), append(leaves, leave)
	}
	return in, refused, func() {
		for _, leave := range leaves {
			leave()
		}
	}
}
