package loaders

import (
	"maps"
	"slices"
	"sync"
)

// subject collects the products that the answer to a request depends on, as its resolvers report
// them.
type subject struct {
	noting    sync.Mutex
	products  map[string]bool
	forCaller bool
}

// About notes that the answer depends on the products: it may change when one of them does.
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

// ForCaller notes that part of the answer depends on the caller.
func (s *subject) ForCaller() {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.forCaller = true
}

// Subject returns the products that the answer depends on, sorted. forAll is true if the answer is
// the same for every caller.
func (s *subject) Subject() (products []string, forAll bool) {
	s.noting.Lock()
	defer s.noting.Unlock()
	return slices.Sorted(maps.Keys(s.products)), !s.forCaller
}
