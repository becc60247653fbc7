package dynamo

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// learning is the share that the latest page has in what is believed of a product's item sizes, if it is a full one of
// comment.DefaultPageSize.
const learning = 0.2

// sizes remembers how large the comments of products are that were read lately. It is safe for use by many goroutines.
type sizes struct {
	mu       sync.Mutex
	products *simplelru.LRU[string, learnt]
}

// learnt is what is believed of one product: of its comments of any rating at 0, and of those of each rating.
type learnt [1 + comment.MaxRating]moments

// moments are the mean of sizes and that of their squares.
type moments struct{ mean, square float64 }

func newSizes() *sizes {
	return &sizes{products: newLRU[string, learnt](remembered, nil)}
}

// of is how large the comments of a product are, zero when none was read.
func (s *sizes) of(product string) planner.Sizes {
	s.mu.Lock()
	known, _ := s.products.Get(product)
	s.mu.Unlock()
	out := planner.Sizes{Any: known[0].size()}
	for i := range out.ByRating {
		out.ByRating[i] = known[1+i].size()
	}
	return out
}

func (m moments) size() planner.ItemSize {
	return planner.ItemSize{Mean: m.mean, Deviation: math.Sqrt(max(0, m.square-m.mean*m.mean))}
}

// measured are the sizes of entries that were read: of any rating at 0, and of those of each rating.
type measured [1 + comment.MaxRating]measurements

// measurements are how many were measured, their sum, and that of their squares.
type measurements struct{ count, sum, squares float64 }

// add adds an entry. One of no rating there is, which someone wrote by hand, is one of any.
func (m *measured) add(rating, bytes int) {
	m[0].add(measurements{1, float64(bytes), float64(bytes) * float64(bytes)})
	if rating >= 1 && rating <= comment.MaxRating {
		m[rating].add(measurements{1, float64(bytes), float64(bytes) * float64(bytes)})
	}
}

func (m *measurements) add(more measurements) {
	m.count += more.count
	m.sum += more.sum
	m.squares += more.squares
}

// learn takes note of entries of a product that were read.
func (s *sizes) learn(product string, read measured) {
	if read[0].count == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	believed, known := s.products.Get(product)
	for i := range believed {
		if !known {
			believed[i] = read[0].moments() // until more of it were read, a rating is taken to be like the others
		}
		believed[i].follow(read[i])
	}
	s.products.Add(product, believed)
}

func (m measurements) moments() moments {
	return moments{mean: m.sum / m.count, square: m.squares / m.count}
}

// follow moves what is believed towards what was seen, the farther the more was seen.
func (m *moments) follow(seen measurements) {
	if seen.count == 0 {
		return
	}
	share := 1 - math.Pow(1-learning, seen.count/comment.DefaultPageSize)
	m.mean += share * (seen.sum/seen.count - m.mean)
	m.square += share * (seen.squares/seen.count - m.square)
}

// keyBytes is what an entry of a list index takes beside what a list is asked for, the product's id and the language: SK,
// and name, prefix, separators and rating of its partition key.
const keyBytes = len(layout.AttrSK) + len(layout.CommentSK) + len(layout.AttrAll) + len(layout.ProductPKPrefix) + len("//5")

// entryBytes is about what the index of languages and ratings keeps of a comment, in bytes, by what it was asked for: the
// other indexes keep a few bytes less.
func entryBytes(c comment.Comment, listed int) int {
	return keyBytes + len(c.ProductID) + len(c.Language) + listed
}
