package prior

import (
	"math"

	"github.com/talkback/talkback/dynamo/planner"
)

// survival is how many comments products have, from observations of which many are incomplete: a
// page of 20 with more behind it says "more than 20". Test number n is whether a product has
// more than n comments. The share of products that fail a test is its hazard, as in the
// estimator of Kaplan and Meier, here with one hazard for each class of sizes.
// https://en.wikipedia.org/wiki/Kaplan%E2%80%93Meier_estimator
type survival struct {
	// Products is how many products were seen.
	Products float64 `json:"products"`
	// Tested is the number of tests by class, Ended the number of those that failed.
	Tested [planner.SizeClasses]float64 `json:"tested"`
	Ended  [planner.SizeClasses]float64 `json:"ended"`
}

// class returns the sizes of a class of the planner: above low, up to high. The last has no end.
func class(b int) (low, high int) {
	if b > 0 {
		low = planner.SizeBounds[b-1]
	}
	if b == len(planner.SizeBounds) {
		return low, math.MaxInt32
	}
	return low, planner.SizeBounds[b]
}

// observe adds the tests of a product: those after the first known ones, up to the one numbered
// tested. The product failed the last if it ended, which means that it has no more comments.
func (s *survival) observe(known, tested int, ended bool) {
	for b := range s.Tested {
		low, high := class(b)
		s.Tested[b] += float64(max(0, min(high, tested)-max(low, known)))
		if ended && low < tested && tested <= high {
			s.Ended[b]++
		}
	}
}

// shares returns the share of products in each class. They sum to 1.
func (s survival) shares() (out [planner.SizeClasses]float64) {
	left := 1.0
	for b := range planner.SizeBounds {
		low, high := class(b)
		pass := 1.0
		if s.Tested[b] > 0 {
			pass = math.Pow(1-s.Ended[b]/s.Tested[b], float64(high-low))
		}
		out[b], left = left*(1-pass), left*pass
	}
	out[len(out)-1] = left
	return out
}

// survivalOf returns what so many products would show. Only the ratios of the shares matter.
func survivalOf(shares [planner.SizeClasses]float64, products float64) survival {
	s := survival{Products: products}
	left, total := 1.0, 0.0
	for _, share := range shares {
		total += share
	}
	for b := range planner.SizeBounds {
		low, high := class(b)
		if left <= 0 {
			break
		}
		pass := max(0, 1-shares[b]/total/left)
		if hazard := 1 - math.Pow(pass, 1/float64(high-low)); hazard > 0 {
			s.Tested[b] = products * left * (1 - pass) / hazard
		} else {
			s.Tested[b] = products * left * float64(high-low)
		}
		s.Ended[b] = products * left * (1 - pass)
		left *= pass
	}
	return s
}

func (s survival) plus(other survival) survival {
	s.Products += other.Products
	for b := range s.Tested {
		s.Tested[b] += other.Tested[b]
		s.Ended[b] += other.Ended[b]
	}
	return s
}

func (s survival) scaled(by float64) survival {
	s.Products *= by
	for b := range s.Tested {
		s.Tested[b] *= by
		s.Ended[b] *= by
	}
	return s
}
