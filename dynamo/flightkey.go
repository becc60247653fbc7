package dynamo

import (
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// flightKey is the same for two questions if they are, and the product was not changed between them: a question without pointers
// and slices, which can be compared. It takes no text to be made but that of several languages.
type flightKey struct {
	changes                uint64
	product                string
	languages              string // each with a comma behind it, which no language has
	ratings                uint8  // the bit of each
	createdFrom, createdTo optional[int64]
	order                  comment.Order
	size                   int
	fromEnd                bool
	after, before          optional[comment.Position]
	count                  comment.Counting
	settledOnly            bool
	withoutText            bool
}

// optional is a value, or that there is none, which is unlike any value.
type optional[T comparable] struct {
	given bool
	value T
}

// flightKeyOf is the key of a question that is asked after a change of this number.
func flightKeyOf(q comment.Query, changes uint64) flightKey {
	key := flightKey{
		changes:     changes,
		product:     q.Product,
		languages:   languagesKey(q.Filter.Languages),
		createdFrom: millisecondOf(q.Filter.CreatedAfter),
		createdTo:   millisecondOf(q.Filter.CreatedBefore),
		order:       q.Order,
		size:        q.Slice.Size,
		fromEnd:     q.Slice.FromEnd,
		after:       positionOrNone(q.Slice.After),
		before:      positionOrNone(q.Slice.Before),
		count:       q.Count,
		settledOnly: q.SettledOnly,
		withoutText: q.WithoutText,
	}
	for _, rating := range q.Filter.Ratings {
		key.ratings |= 1 << rating
	}
	return key
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
