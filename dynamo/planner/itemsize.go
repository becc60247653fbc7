package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/layout"
)

// ItemSize is how large items of an index are, in bytes.
type ItemSize struct{ Mean, Deviation float64 }

// Sizes are how large the items of a product are, in bytes; the zero value knows nothing.
type Sizes struct {
	// Any is that of an item of any rating.
	Any ItemSize
	// ByRating are those of the items of one rating, beginning with that of rating 1, zero where none is known. Who is
	// angry writes more.
	ByRating [comment.MaxRating]ItemSize
}

// Of is how large the items of a partition are.
func (s Sizes) Of(partition layout.Partition) ItemSize {
	if !partition.Index.SplitsByRating() || s.ByRating[partition.Rating-1].Mean == 0 {
		return s.Any
	}
	return s.ByRating[partition.Rating-1]
}

// fitting is how many items a read has room for that is expected to cost what one of so many does.
func (s ItemSize) fitting(items int) int {
	room := math.Ceil(float64(items)*s.Mean/capacity.UnitBytes) * capacity.UnitBytes
	return int((room - s.Deviation*math.Sqrt(room/s.Mean)) / s.Mean)
}

// expected is what looking at so many items is expected to cost, in read units: half a one, and half a one more for each
// 4 KB that they are above.
func (s ItemSize) expected(items int) float64 {
	mean, deviation := float64(items)*s.Mean, math.Sqrt(float64(items))*s.Deviation
	if deviation > capacity.UnitBytes {
		return (mean/capacity.UnitBytes + 0.5) / 2 // any remainder is as likely as any other
	}
	first := max(1, int((mean-3*deviation)/capacity.UnitBytes))
	units := float64(first)
	for n := first; ; n++ {
		p := above(float64(n*capacity.UnitBytes), mean, deviation)
		if p < 0.005 {
			return units / 2
		}
		units += p
	}
}
