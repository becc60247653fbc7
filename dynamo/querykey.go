package dynamo

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// queryKey identifies a query: the keys of two queries are equal if and only if the queries are. It
// holds no pointers and no slices, so it can be compared and be the key of a map. What follows the
// texts has no gaps: it is hashed at once.
type queryKey struct {
	product    string
	conditions string // the conditions of the filter, as conditionsKey writes them
	order      comment.Order

	createdFrom, createdTo int64 // the filter's dates, in milliseconds
	after, before          comment.Place
	values                 int // how many values all conditions have
	size                   int
	number                 int // the number of the page; 0 if it is not asked for by number
	count                  comment.Counting
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

func keyOf(q comment.Query) queryKey {
	key := queryKey{
		product:     q.Product,
		order:       q.Order,
		size:        q.Slice.Size,
		number:      q.Slice.Page,
		count:       q.Count,
		fromEnd:     q.Slice.FromEnd,
		settledOnly: q.SettledOnly,
		withoutText: q.WithoutText,
		numbering:   q.Numbering,

		withoutNeighbours: q.WithoutNeighbours,
	}
	key.conditions, key.values = conditionsKey(q.Filter)
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

func ratingBits(ratings []int) (bits uint8) {
	for _, rating := range ratings {
		bits |= 1 << rating
	}
	return bits
}

// conditionsKey returns a text that is equal only for equal conditions, and how many values these
// have. Each value has a comma before it and each condition a semicolon behind it, which no value
// has.
func conditionsKey(filter comment.Filter) (key string, values int) {
	var b strings.Builder
	for _, condition := range filter.Conditions() {
		b.WriteString(string(condition.Attribute))
		for _, value := range condition.Values {
			b.WriteByte(',')
			b.WriteString(value.String())
		}
		b.WriteByte(';')
		values += len(condition.Values)
	}
	return b.String(), values
}
