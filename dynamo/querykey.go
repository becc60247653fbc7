package dynamo

import (
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// queryKey identifies a query: the keys of two queries are equal if and only if the queries are. It
// holds no pointers and no slices, so it can be compared and be the key of a map. Only several
// languages take an allocation.
type queryKey struct {
	product                string
	languages              string // each with a comma behind it, which no language has
	ratings                uint8  // the bit of each
	conditions             int    // how many languages and ratings there are
	createdFrom, createdTo optional[int64]
	order                  comment.Order
	size                   int
	fromEnd                bool
	after, before          optional[comment.Position]
	number                 int // of the page, 0 for none
	numbering              comment.Numbering
	count                  comment.Counting
	settledOnly            bool
	withoutText            bool
	withoutNeighbours      bool
}

// optional is a value or none. None differs from every value.
type optional[T comparable] struct {
	given bool
	value T
}

// keyOf is the key of a query.
func keyOf(q comment.Query) queryKey {
	key := queryKey{
		product:     q.Product,
		languages:   languagesKey(q.Filter.Languages),
		conditions:  len(q.Filter.Languages) + len(q.Filter.Ratings),
		createdFrom: millisecondOf(q.Filter.CreatedAfter),
		createdTo:   millisecondOf(q.Filter.CreatedBefore),
		order:       q.Order,
		size:        q.Slice.Size,
		fromEnd:     q.Slice.FromEnd,
		after:       positionOrNone(q.Slice.After),
		before:      positionOrNone(q.Slice.Before),
		count:       q.Count,
		number:      q.Slice.Page,
		numbering:   q.Numbering,
		settledOnly: q.SettledOnly,
		withoutText: q.WithoutText,

		withoutNeighbours: q.WithoutNeighbours,
	}
	key.ratings = ratingBits(q.Filter.Ratings)
	return key
}

// page is the key of all queries that show the same comments, whatever they count and tell of
// page numbers, and whether they want texts.
func (k queryKey) page() queryKey {
	k.count, k.withoutText, k.numbering = comment.CountNothing, false, comment.Numbering{}
	if k.number == 1 {
		k.number = 0
	}
	return k
}

// ratingBits has the bit of each rating.
func ratingBits(ratings []int) (bits uint8) {
	for _, rating := range ratings {
		bits |= 1 << rating
	}
	return bits
}

func languagesKey(languages []comment.Language) string {
	var b strings.Builder
	for _, language := range languages {
		b.WriteString(string(language))
		b.WriteByte(',')
	}
	return b.String()
}

// millisecondOf is a time as filters are normalized.
func millisecondOf(t *time.Time) optional[int64] {
	if t == nil {
		return optional[int64]{}
	}
	return optional[int64]{given: true, value: t.UnixMilli()}
}

func positionOrNone(p *comment.Position) optional[comment.Position] {
	if p == nil {
		return optional[comment.Position]{}
	}
	return optional[comment.Position]{given: true, value: *p}
}
