package dynamo

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// queryKey identifies a query: two queries are equal if and only if their keys are. It holds no
// pointers and no slices, so it can be the key of a map. The fields after the texts have no gaps,
// so they are hashed in one run.
type queryKey struct {
	product    string
	conditions string // the conditions of the filter, as conditionsKey writes them
	order      comment.Order

	createdFrom, createdTo int64 // the filter's dates, in milliseconds
	after, before          comment.Place
	values                 int // the number of values in all conditions
	size                   int
	number                 int // the number of the page; 0 for a page by cursor
	count                  comment.Counting
	given                  givens // which of the times and positions are given
	fromEnd                bool
	settledOnly            bool
	withoutText            bool
	withoutNeighbours      bool

	numbering comment.Numbering
}

// givens has a bit for each optional time and position of a query.
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

// page returns the key that all queries for the same comments share. It ignores counts, page
// numbers and whether texts are wanted.
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
// have. A comma precedes each value, and a semicolon ends each condition; no value contains either.
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
