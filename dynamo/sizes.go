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

// learn takes note of comments of a product that were read.
func (s *sizes) learn(product string, comments []comment.Comment) {
	if len(comments) == 0 {
		return
	}
	var seen moments
	for _, c := range comments {
		bytes := float64(entryBytes(c))
		seen.mean += bytes / float64(len(comments))
		seen.square += bytes * bytes / float64(len(comments))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, known := s.products.Get(product); known {
		seen.mean = before.mean + learning*(seen.mean-before.mean)
		seen.square = before.square + learning*(seen.square-before.square)
	}
	s.products.Add(product, seen)
}

// keyBytes is what the keys of an entry of an index take, and the names of its attributes, beside the product's id and the
// language, which are in them too.
const keyBytes = 97

// entryBytes is about what an index keeps of a comment, in bytes.
func entryBytes(c comment.Comment) int {
	bytes := keyBytes + len(c.ProductID) + 2*len(c.Language) + len(c.Text) + len(c.Author.ID) + len(c.Author.Name)
	if c.Title != nil {
		bytes += len(attrTitle) + len(*c.Title)
	}
	return bytes
}
