package planner

import "math"

// holding is how many comments a partition may hold: ascending numbers and their probabilities. If
// counts are known, there is one number.
type holding struct {
	count       int
	comments    [mostNumbers]float64
	probability [mostNumbers]float64
	units       [mostNumbers]float64 // of reading all
}

// mostNumbers is how many numbers there are at most: two for each class of a Prior.
const mostNumbers = 2 * SizeClasses

// add adds a number, larger than those before.
func (h *holding) add(comments, probability float64, size ItemSize) {
	h.comments[h.count], h.probability[h.count] = comments, probability
	h.units[h.count] = size.expected(int(min(max(math.Round(comments), 1), MaxLimit)))
	h.count++
}

// call is what a call with a limit is expected to cost in read units, and the probability that it
// does not come to the end of the partition.
func (h *holding) call(limit int, size ItemSize) (units, goesOn float64) {
	goesOn = 1
	for i := 0; i < h.count && h.comments[i] < float64(limit); i++ {
		goesOn -= h.probability[i]
		units += h.probability[i] * h.units[i]
	}
	if goesOn < 1e-9 {
		return units, 0
	}
	return units + goesOn*size.expected(limit), goesOn
}
