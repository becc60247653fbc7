package planner

import "math"

// share is how many comments of a list are in a part.
type share struct {
	// held is how many comments the partition holds, and wanted is how many of them are in the
	// list.
	held, wanted int
	// matches is how many comments are in the whole list.
	matches  int
	residual bool
}

// enough returns how many needed items a scan of scanned items suffices for, halfway between two
// integers. A part that holds the whole list has to return just the comments wanted. Any other has
// to return one more, to show that its next comment comes after those of the other parts.
func (s share) enough(scanned int) float64 {
	if s.wanted < s.matches {
		return float64(scanned) - 0.5
	}
	return float64(scanned) + 0.5
}

// scanFor returns how many items have to be scanned for the needed ones: the inverse of enough.
func (s share) scanFor(needed float64) int {
	if s.wanted < s.matches {
		return int(math.Ceil(needed + 0.5))
	}
	return int(math.Ceil(needed - 0.5))
}

// shortage is what a call of a part has to bring, so that no further call follows.
type shortage struct {
	share share
	// mean and deviation describe the number of items to scan.
	mean, deviation float64
	// returned is the distribution of how many items the residual filter returns, and want is how
	// many it must return. returned is nil if only mean and deviation are used.
	returned *betaBinomial
	want     int
}

// likely returns the probability that a call with a limit is not enough, given that it does not
// reach the end of the partition.
func (s *shortage) likely(limit int) float64 {
	if s.returned != nil {
		return s.returned.below(s.want, limit)
	}
	return above(s.share.enough(limit), s.mean, s.deviation)
}

// holding is the distribution of the number of comments in a partition, with the costs of reading
// them.
type holding struct {
	size ItemSize
	// numbers are the likely numbers of comments of the product. The partition has the share
	// times/of.
	numbers   likelySizes
	times, of float64
	// sums caches a value for each of the first numbers, up to the highest limit so far.
	sums []cumulated
}

// cumulated sums up the numbers until one: units is their part of the expected cost, and left is
// the probability that the partition holds more.
type cumulated struct{ units, left float64 }

// certainSize is for known counts, which are used as they are: factor 1 with probability 1.
var certainSize = likelySizes{{comments: 1, probability: 1}}

// call returns the expected cost of a call with a limit in read units, and the probability that it
// does not reach the end of the partition.
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
