package loaders

import (
	"maps"
	"slices"
)

// About notes that the answer depends on the products: it may change when one of them does.
func (l *Loaders) About(products ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, product := range products {
		l.products[product] = true
	}
}

// ForCaller notes that part of the answer depends on the caller.
func (l *Loaders) ForCaller() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forCaller = true
}

// Subject returns the products that the answer depends on, sorted. forAll is true if the answer is
// the same for every caller.
func (l *Loaders) Subject() (products []string, forAll bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.products)), !l.forCaller
}
