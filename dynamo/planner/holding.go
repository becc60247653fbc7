package planner

import (
	"math"
)

// share is how many comments of a list are in a part.
type share struct {
	// held is how many comments the partition holds, wanted how many of them are in the list.
	held, wanted int
	// matches is how many comments are in the whole list.
	matches int
	// residual is whether the part has a residual filter.
	residual bool
}

// enough is how many needed items a scan suffices for, halfway between two integers. scanned is how
// many items it scans. A part that holds the whole list has to return just the comments wanted. Any
// other has to return one more, which shows that its next comment comes later than those of the
// other parts.
func (s share) enough(scanned int) float64 {
	if s.wanted < s.matches {
		return float64(scanned) - 0.5
	}
	return float64(scanned) + 0.5
}

// scanFor is how many items a scan for the needed items has to read: the inverse of enough.
func (s share) scanFor(needed float64) int {
	if s.wanted < s.matches {
		return int(math.Ceil(needed + 0.5))
	}
	return int(math.Ceil(needed - 0.5))
}

// shortage is what a call of a part has to bring, so that no other has to follow.
type shortage struct {
	share share
	// mean and deviation are of how many items have to be scanned.
	mean, deviation float64
	// returned is what a residual filter returns, and want how many that has to be. It is nil if mean
	// and deviation are all that is known.
	returned *betaBinomial
	want     int
}

// likely is the probability that a call with a limit is not enough, if it does not come to the end.
func (s *shortage) likely(limit int) float64 {
	if s.returned != nil {
		return s.returned.below(s.want, limit)
	}
	return above(s.share.enough(limit), s.mean, s.deviation)
}

// holding is how many comments a partition may hold, and what reading all of them costs.
type holding struct {
	size ItemSize
	// numbers are the likely numbers of comments of the product. The partition has the share
	// times/of.
	numbers   likelySizes
	times, of float64
	// sums has a value for each of the first numbers, once a limit was above it.
	sums []cumulated
}

// cumulated is what reading all numbers up to one is expected to cost together, and the probability
// that the partition holds none of them.
type cumulated struct{ units, left float64 }

// certainSize is the one number of a product whose counts are known: one of each.
var certainSize = likelySizes{{comments: 1, probability: 1}}

// call is what a call with a limit is expected to cost in read units, and the probability that it
// does not come to the end of the partition.
func (h *holding) call(limit int) (units, goesOn float64) {
	goesOn = 1
	for i := 0; i < len(h.numbers) && h.comments(i) < float64(limit); i++ {
		if i == len(h.sums) {
			all := int(min(max(math.Round(h.comments(i)), 1), MaxLimit))
			likely := h.numbers[i].probability
			h.sums = append(h.sums, cumulated{units: units + likely*h.size.expected(all), left: goesOn - likely})
		}
		units, goesOn = h.sums[i].units, h.sums[i].left
	}
	if goesOn < 1e-9 {
		return units, 0
	}
	return units + goesOn*h.size.expected(limit), goesOn
}

func (h *holding) comments(i int) float64 { return h.numbers[i].comments * h.times / h.of }
