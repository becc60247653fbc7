package planner

import "math"

// holding is how many comments a partition may hold, and what reading all of them costs.
type holding struct {
	size ItemSize
	// numbers are of comments of the product, of which times/of are in the partition.
	numbers   likelySizes
	times, of float64
	// known has a value for each of the first numbers, once a limit was above it.
	known []cumulated
}

// cumulated is what reading all numbers up to one is expected to cost together, and the probability
// that the partition holds none of them.
type cumulated struct{ units, left float64 }

// counted is the one number of a product whose counts are known: one of each.
var counted = likelySizes{{comments: 1, probability: 1}}

// call is what a call with a limit is expected to cost in read units, and the probability that it
// does not come to the end of the partition.
func (h *holding) call(limit int) (units, goesOn float64) {
	goesOn = 1
	for i := 0; i < len(h.numbers) && h.comments(i) < float64(limit); i++ {
		if i == len(h.known) {
			h.know(units, goesOn)
		}
		units, goesOn = h.known[i].units, h.known[i].left
	}
	if goesOn < 1e-9 {
		return units, 0
	}
	return units + goesOn*h.size.expected(limit), goesOn
}

func (h *holding) comments(i int) float64 { return h.numbers[i].comments * h.times / h.of }

// know adds the next number to those known.
func (h *holding) know(units, left float64) {
	i := len(h.known)
	all := int(min(max(math.Round(h.comments(i)), 1), MaxLimit))
	h.known = append(h.known, cumulated{
		units: units + h.numbers[i].probability*h.size.expected(all),
		left:  left - h.numbers[i].probability,
	})
}
