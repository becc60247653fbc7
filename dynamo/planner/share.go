package planner

import "math"

// share is how many comments of a list are in a part.
type share struct {
	// held is how many comments the partition holds, wanted how many of them are in the list.
	held, wanted int
	// matches is how many comments are in the whole list.
	matches int
	// residual is whether the part has a residual filter.
	residual bool
}

// enough is how many needed items a scan of so many is enough for, halfway between two integers. A
// part that holds the whole list has to return just the comments wanted. Any other has to return
// one more, which shows that its next comment comes later than those of the other parts.
func (s share) enough(scanned int) float64 {
	if s.wanted < s.matches {
		return float64(scanned) - 0.5
	}
	return float64(scanned) + 0.5
}

// scanFor is how many items have to be scanned if so many are needed: the inverse of enough.
func (s share) scanFor(needed float64) int {
	if s.wanted < s.matches {
		return int(math.Ceil(needed + 0.5))
	}
	return int(math.Ceil(needed - 0.5))
}
