package bulkhead

import "sync"

// Batches counts batches in progress by the products in them. One slow product holds up its whole
// batch, so without a bound the batches with it would hold every place of the server. A nil one
// bounds nothing. It is safe for concurrent use.
type Batches struct {
	most int

	mu sync.Mutex
	of map[string]int // how many batches have a product, none with 0
}

// NewBatches returns a bound of so many batches with each product at a time.
func NewBatches(most int) *Batches { return &Batches{most: most, of: map[string]int{}} }

// Enter begins a batch of different products. It returns those that are not in too many other
// batches, for which the caller calls Leave, and an Overloaded error for each of the others.
func (b *Batches) Enter(products []string) (in []string, refused map[string]error) {
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

// Leave ends a batch.
func (b *Batches) Leave(in []string) {
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
