package dynamo

import (
	"math"

	"github.com/talkback/talkback/comment"
)

// What reading costs, in read capacity units.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	// unitBytes is what one unit reads, or half a one when the read is eventually consistent. Less is not sold: an item of
	// one byte costs as much as one of 4 KB.
	unitBytes = 4 << 10
	// assumedItemBytes is what an item of an index is assumed to have, before anything is known of a product's comments:
	// 200 bytes of keys and short attributes, and a text of some 130 words.
	assumedItemBytes = 1 << 10
	// writePrice is how many read units cost as much as a write unit: https://aws.amazon.com/dynamodb/pricing/on-demand/
	writePrice = 5
)

// PageUnits is what one page of a list may cost: its first wave of reads, if every partition holds as many comments as
// are wanted. The filter must be normalized; its dates, the product and the cursors do not matter.
func (s *Store) PageUnits(q comment.Query) float64 {
	filter := comment.Filter{Languages: q.Filter.Languages, Ratings: q.Filter.Ratings}
	w := windowOf(comment.Query{Filter: filter})
	plan := makePlan("", filter, s.choose, w, comment.ReadPage, w.want(q.Slice.Size))
	units := 0.0
	for _, read := range plan.Reads {
		units += math.Ceil(float64(read.Limit*assumedItemBytes)/unitBytes) / 2
	}
	return units
}

// CommentUnits is what fetching one comment costs: a consistent read of its own.
func (*Store) CommentUnits() float64 { return 1 }

// WriteUnits is what writing one comment costs, in as many read units as have the same price: a write unit for the table
// and for each index.
func (*Store) WriteUnits() float64 { return float64(writePrice * (1 + len(indexes))) }
