package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Sample is what the first call of a read with a residual filter told of a product whose counts are
// not known, when it neither came to the end of its partition nor brought enough.
type Sample struct {
	// partition is what was read, scanned how many comments the call scanned, returned how many of
	// these are in the list.
	partition         layout.Partition
	scanned, returned int
	// partial is whether the read began at a cursor or was bounded by dates.
	partial bool
	// ratings and languages are those of the returned comments.
	ratings   comment.Counts
	languages map[comment.Language]int
}

// add adds a returned comment. An out-of-range rating (edited by hand) counts toward the total only.
func (s *Sample) add(cell comment.Cell) {
	s.returned++
	s.languages[cell.Language]++
	if comment.CheckRating(cell.Rating) == nil {
		s.ratings[cell.Rating-1]++
	}
}

// posterior is a mean share after so many of some comments were seen to be in it, if the mean
// before counts as weight comments.
func posterior(mean, weight float64, seen, of int) float64 {
	return (weight*mean + float64(seen)) / (weight + float64(of))
}
