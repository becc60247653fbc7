package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// ItemSize is the size of items of an index: mean and standard deviation, in bytes.
type ItemSize struct{ Mean, Deviation float64 }

// unknownSize is assumed until an item of the product was read: 200 bytes of keys and short
// attributes, and a text of some 50 words.
var unknownSize = ItemSize{Mean: 512, Deviation: 256}

// Sizes has the item sizes of a product. Zero values are unknown.
type Sizes struct {
	// Any is the size of an item of any rating.
	Any ItemSize
	// ByRating has the sizes by rating, beginning with rating 1. Texts of bad ratings tend to be
	// longer.
	ByRating [comment.MaxRating]ItemSize
}

// Of returns the size of the items in a partition.
func (s *Sizes) Of(partition layout.Partition) ItemSize {
	if partition.Rating == 0 || s.ByRating[partition.Rating-1].Mean == 0 {
		return s.Any
	}
	return s.ByRating[partition.Rating-1]
}

// fitting returns how many items fit into the read units that scanning the given items is expected
// to consume. DynamoDB rounds units up, so the additional items cost nothing.
func (s ItemSize) fitting(items int) int {
	return s.within(math.Ceil(float64(items)*s.Mean/layout.UnitBytes) * layout.UnitBytes)
}

// within returns how many items probably fit into the given bytes.
func (s ItemSize) within(bytes float64) int {
	return int((bytes - s.Deviation*math.Sqrt(bytes/s.Mean)) / s.Mean)
}

// expected returns the expected cost of scanning items in one call, in read units: half a unit for
// each started 4 KB.
func (s ItemSize) expected(items int) float64 {
	mean, deviation := float64(items)*s.Mean, math.Sqrt(float64(items))*s.Deviation
	if deviation > layout.UnitBytes {
		return (mean/layout.UnitBytes + 0.5) / 2 // any remainder is as likely as any other
	}
	first := max(1, int((mean-3*deviation)/layout.UnitBytes))
	units := float64(first)
	for n := first; ; n++ {
		bytes := float64(n * layout.UnitBytes)
		if bytes > mean+2.7*deviation {
			return units / 2
		}
		p := above(bytes, mean, deviation)
		if p < 0.005 {
			return units / 2
		}
		units += p
	}
}
