package dynamo

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
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
	lru, err := simplelru.NewLRU[string, learnt](memorySize, nil)
	if err != nil {
		panic("dynamo: " + err.Error()) // the size is above 0
	}
	return &sizes{products: lru}
}

// of is how large the comments of a product are, zero when none was read.
func (s *sizes) of(product string) Sizes {
	s.mu.Lock()
	known, _ := s.products.Get(product)
	s.mu.Unlock()
	out := Sizes{Any: known[0].size()}
	for i := range out.ByRating {
		out.ByRating[i] = known[1+i].size()
	}
	return out
}

func (m moments) size() ItemSize {
	return ItemSize{Mean: m.mean, Deviation: math.Sqrt(max(0, m.square-m.mean*m.mean))}
}

// learn takes note of comments of a product that were read.
func (s *sizes) learn(product string, comments []comment.Comment) {
	if len(comments) == 0 {
		return
	}
	seen := seenIn(comments)
	s.mu.Lock()
	defer s.mu.Unlock()
	believed, known := s.products.Get(product)
	for i := range believed {
		if !known {
			believed[i] = seen[0].moments() // until more of it were read, a rating is taken to be like the others
		}
		believed[i].follow(seen[i])
	}
	s.products.Add(product, believed)
}

// seenIn are the sizes of some comments: of all at 0, and of those of each rating.
func seenIn(comments []comment.Comment) (seen [1 + comment.MaxRating]seenSizes) {
	for _, c := range comments {
		bytes := float64(entryBytes(c))
		seen[0].add(bytes)
		if c.Rating >= 1 && c.Rating <= comment.MaxRating {
			seen[c.Rating].add(bytes)
		}
	}
	return seen
}

// seenSizes are of some items: how many, their sum, and that of their squares.
type seenSizes struct{ number, sum, squares float64 }

func (s *seenSizes) add(bytes float64) {
	s.number++
	s.sum += bytes
	s.squares += bytes * bytes
}

func (s seenSizes) moments() moments {
	return moments{mean: s.sum / s.number, square: s.squares / s.number}
}

// follow moves what is believed towards what was seen, the farther the more was seen.
func (m *moments) follow(seen seenSizes) {
	if seen.number == 0 {
		return
	}
	share := 1 - math.Pow(1-learning, seen.number/comment.DefaultPageSize)
	m.mean += share * (seen.sum/seen.number - m.mean)
	m.square += share * (seen.squares/seen.number - m.square)
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
