package planner

import "math"

// above is the probability that a normally distributed number is above x.
func above(x, mean, deviation float64) float64 {
	if deviation == 0 {
		return certainty(mean > x)
	}
	z := (x - mean) / deviation
	at := math.Abs(z) * tailSteps
	if at >= float64(len(tail)-1) {
		return certainty(z < 0)
	}
	low := int(at)
	p := tail[low] + (at-float64(low))*(tail[low+1]-tail[low])
	if z < 0 {
		return 1 - p
	}
	return p
}

func certainty(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// tail has the probabilities that a standard normal number is above 0, 1/tailSteps, 2/tailSteps and
// so on. A plan needs dozens of them, and math.Erfc is slow.
var tail = func() (table [5*tailSteps + 1]float64) {
	for i := range table {
		table[i] = math.Erfc(float64(i)/tailSteps/math.Sqrt2) / 2
	}
	return table
}()

const tailSteps = 20
