package planner

import "math"

// holding is how many comments a partition may hold, and what reading all of them costs.
type holding struct {
	size ItemSize
	// numbers are of comments of the product, of which times/of are in the partition.
	numbers   likelySizes
	times, of float64
	// units are what reading the first numbers is expected to cost together, and left the probability
	// that the partition holds none of them. Both have a value for each of the first known numbers.
	known       int
	units, left [mostNumbers]float64
}

// mostNumbers is how many numbers there are at most: two for each class of a Prior.
const mostNumbers = 2 * SizeClasses

// counted is the one number of a product whose counts are known: one of each.
var counted = likelySizes{{comments: 1, probability: 1}}

// call is what a call with a limit is expected to cost in read units, and the probability that it
// does not come to the end of the partition.
func (h *holding) call(limit int) (units, goesOn float64) {
	goesOn = 1
	for i := 0; i < len(h.numbers) && h.comments(i) < float64(limit); i++ {
		if i == h.known {
			h.know(units, goesOn)
		}
		units, goesOn = h.units[i], h.left[i]
	}
	if goesOn < 1e-9 {
		return units, 0
	}
	return units + goesOn*h.size.expected(limit), goesOn
}

func (h *holding) comments(i int) float64 { return h.numbers[i].comments * h.times / h.of }

// know adds the next number to units and left.
func (h *holding) know(units, left float64) {
	i := h.known
	all := int(min(max(math.Round(h.comments(i)), 1), MaxLimit))
	h.units[i] = units + h.numbers[i].probability*h.size.expected(all)
	h.left[i] = left - h.numbers[i].probability
	h.known++
}
