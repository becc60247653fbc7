package dynamo

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
)

// learning is the share that the latest page has in what is believed of a product's item sizes.
const learning = 0.2

// sizes remembers how large the comments of products are that were read lately. It is safe for use by many goroutines.
type sizes struct {
	mu       sync.Mutex
	products *simplelru.LRU[string, moments]
}

// moments are the mean of sizes and that of their squares.
type moments struct{ mean, square float64 }

func newSizes() *sizes {
	return &sizes{products: newLRU[moments](nil)}
}

// of is how large the comments of a product are, zero when none was read.
func (s *sizes) of(product string) ItemSize {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, _ := s.products.Get(product)
	return ItemSize{Mean: m.mean, Deviation: math.Sqrt(max(0, m.square-m.mean*m.mean))}
}

// measured are the sizes of entries that were read.
type measured struct {
	count, sum, squares float64
}

func (m *measured) add(bytes int) {
	m.count++
	m.sum += float64(bytes)
	m.squares += float64(bytes) * float64(bytes)
}

// sizes are those of all that a run has read.
func (r *run) sizes() measured {
	var all measured
	for _, read := range r.reads {
		all.count += read.sizes.count
		all.sum += read.sizes.sum
		all.squares += read.sizes.squares
	}
	return all
}

// learn takes note of entries of a product that were read.
func (s *sizes) learn(product string, read measured) {
	if read.count == 0 {
		return
	}
	seen := moments{mean: read.sum / read.count, square: read.squares / read.count}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, known := s.products.Get(product); known {
		seen.mean = before.mean + learning*(seen.mean-before.mean)
		seen.square = before.square + learning*(seen.square-before.square)
	}
	s.products.Add(product, seen)
}

// keyBytes is what an entry of a list index takes beside what a list is asked for, the product's id and the language: SK,
// and name, prefix, separators and rating of its partition key.
const keyBytes = len(attrSK) + len(commentSK) + len(attrAll) + len(productPKPrefix) + len("//5")

// entryBytes is about what the index of languages and ratings keeps of a comment, in bytes, by what it was asked for: the
// other indexes keep a few bytes less.
func entryBytes(c comment.Comment, listed int) int {
	return keyBytes + len(c.ProductID) + len(c.Language) + listed
}
