package prior

import (
	"cmp"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// large are the counts by rating of the products with most comments, as last seen. They are few and
// asked for most, and unlike what a prior says of products.
type large map[string]comment.Counts

const (
	// largeFrom is how many comments a product has at least whose counts are kept.
	largeFrom = 256
	// mostLarge is how many products' counts are kept.
	mostLarge = 32
)

// note replaces the counts of a product.
func (l *large) note(product string, counts comment.Counts) {
	if counts.Total() < largeFrom {
		delete(*l, product)
		return
	}
	if *l == nil {
		*l = large{}
	}
	(*l)[product] = counts
	l.shrink()
}

// shrink drops the products with the fewest comments of more than mostLarge.
func (l large) shrink() {
	for len(l) > mostLarge {
		delete(l, slices.MinFunc(slices.Collect(maps.Keys(l)), func(a, b string) int {
			return cmp.Or(cmp.Compare(l[a].Total(), l[b].Total()), cmp.Compare(a, b))
		}))
	}
}

// with returns both, and of a product in both what newer says.
func (l large) with(newer large) large {
	both := make(large, len(l)+len(newer))
	maps.Copy(both, l)
	maps.Copy(both, newer)
	both.shrink()
	return both
}
