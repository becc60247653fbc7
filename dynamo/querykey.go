package dynamo

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// queryKey identifies a query: the keys of two queries are equal if and only if the queries are. It
// holds no pointers and no slices, so it can be compared and be the key of a map. Only several
// languages take an allocation. What follows the texts has no gaps: it is hashed at once.
type queryKey struct {
	product   string
	languages string // each with a comma behind it, which no language has
	order     comment.Order

	createdFrom, createdTo int64 // milliseconds, as filters are normalized
	after, before          comment.Position
	conditions             int // how many languages and ratings there are
	size                   int
	number                 int // of the page, 0 for none
	count                  comment.Counting
	ratings                uint8  // the bit of each
	given                  givens // which of the times and positions are given
	fromEnd                bool
	settledOnly            bool
	withoutText            bool
	withoutNeighbours      bool

	numbering comment.Numbering
}

// givens has a bit for each condition that a query may or may not have.
type givens uint8

const (
	createdFromGiven givens = 1 << iota
	createdToGiven
	afterGiven
	beforeGiven
)

// keyOf is the key of a query.
func keyOf(q comment.Query) queryKey {
	key := queryKey{
		product:     q.Product,
		languages:   languagesKey(q.Filter.Languages),
		order:       q.Order,
		conditions:  len(q.Filter.Languages) + len(q.Filter.Ratings),
		size:        q.Slice.Size,
		number:      q.Slice.Page,
		count:       q.Count,
		ratings:     ratingBits(q.Filter.Ratings),
		fromEnd:     q.Slice.FromEnd,
		settledOnly: q.SettledOnly,
		withoutText: q.WithoutText,
		numbering:   q.Numbering,

		withoutNeighbours: q.WithoutNeighbours,
	}
	if from := q.Filter.CreatedAfter; from != nil {
		key.given, key.createdFrom = key.given|createdFromGiven, from.UnixMilli()
	}
	if to := q.Filter.CreatedBefore; to != nil {
		key.given, key.createdTo = key.given|createdToGiven, to.UnixMilli()
	}
	if after := q.Slice.After; after != nil {
		key.given, key.after = key.given|afterGiven, *after
	}
	if before := q.Slice.Before; before != nil {
		key.given, key.before = key.given|beforeGiven, *before
	}
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
