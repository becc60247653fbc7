package planner

import "math"

// above returns the probability that a normally distributed number is above x.
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

// betaBinomial is the distribution of how many of some scanned items match, if the share of
// matching items has a beta distribution. Its mean counts as a number of items seen before.
// https://en.wikipedia.org/wiki/Beta-binomial_distribution
type betaBinomial struct {
	in, out float64 // items seen before that match, and that do not
	// logGamma of in+out and of out, which all probabilities need.
	gammaAll, gammaOut float64
}

func newBetaBinomial(mean, known float64) *betaBinomial {
	b := &betaBinomial{in: max(mean, 1e-6) * known, out: max(1-mean, 1e-6) * known}
	b.gammaAll, b.gammaOut = logGamma(b.in+b.out), logGamma(b.out)
	return b
}

// below returns the probability that fewer than wanted of the scanned items match.
func (b *betaBinomial) below(wanted, scanned int) float64 {
	if scanned < wanted {
		return 1
	}
	n := float64(scanned)
	p := math.Exp(logGamma(n+b.out) + b.gammaAll - logGamma(n+b.in+b.out) - b.gammaOut) // that none is
	total := 0.0
	for x := range wanted {
		total += p
		i := float64(x)
		p *= (n - i) / (i + 1) * (i + b.in) / (n - i - 1 + b.out)
	}
	return min(total, 1)
}

func logGamma(x float64) float64 {
	value, _ := math.Lgamma(x)
	return value
}
