package loaders

import (
	"maps"
	"slices"
	"sync"
)

// subject is what the answer to a request is about, as far as its resolvers say.
type subject struct {
	noting    sync.Mutex
	products  map[string]bool
	forCaller bool
}

// About notes that the answer is about some products: it may change when one of these does.
func (s *subject) About(products ...string) {
	s.noting.Lock()
	defer s.noting.Unlock()
	if s.products == nil {
		s.products = map[string]bool{}
	}
	for _, product := range products {
		s.products[product] = true
	}
}

// ForCaller notes that a part of the answer depends on who asks.
func (s *subject) ForCaller() {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.forCaller = true
}

// Subject returns the products that the answer is about, sorted, and whether it is the same for
// everyone who asks.
func (s *subject) Subject() (products []string, forAll bool) {
	s.noting.Lock()
	defer s.noting.Unlock()
	return slices.Sorted(maps.Keys(s.products)), !s.forCaller
}
