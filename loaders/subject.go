package loaders

import (
	"maps"
	"slices"
	"sync"
)

// subject is what the answer to a request is about, as far as its resolvers say.
type subject struct {
	mu        sync.Mutex
	products  map[string]bool
	forCaller bool
}

// About notes that the answer is about some products: it may change when one of these does.
func (l *Loaders) About(products ...string) {
	l.subject.mu.Lock()
	defer l.subject.mu.Unlock()
	if l.subject.products == nil {
		l.subject.products = map[string]bool{}
	}
	for _, product := range products {
		l.subject.products[product] = true
	}
}

// ForCaller notes that a part of the answer depends on who asks.
func (l *Loaders) ForCaller() {
	l.subject.mu.Lock()
	defer l.subject.mu.Unlock()
	l.subject.forCaller = true
}

// Subject returns the products that the answer is about, sorted, and whether it is the same for
// everyone who asks.
func (l *Loaders) Subject() (products []string, forAll bool) {
	l.subject.mu.Lock()
	defer l.subject.mu.Unlock()
	return slices.Sorted(maps.Keys(l.subject.products)), !l.subject.forCaller
}
