package planbench

import (
	"math"
	"testing"
)

// A catalogue has the mean of its source, a long tail, and products with different ratings.
func TestCatalogueHasALongTail(t *testing.T) {
	const products = 1000
	catalogue := Catalogue(products, 1)
	set := SetOf(catalogue)
	small, good := 0, map[bool]int{}
	for _, comments := range catalogue {
		if len(comments) <= 10 {
			small++
		}
		if len(comments) > 50 {
			sum := 0
			for _, c := range comments {
				sum += c.Rating
			}
			good[sum > 4*len(comments)]++
		}
	}
	if mean := float64(set.Comments) / products; math.Abs(mean-meanComments) > 0.2 {
		t.Errorf("a product has %.2f comments on average, want %.2f", mean, meanComments)
	}
	if most := len(catalogue[0]); most < set.Comments/10 || small < products*3/4 {
		t.Errorf("the first product has %d of %d comments, and %d have at most 10: no long tail", most, set.Comments, small)
	}
	if good[true] < 5 || good[false] < 5 {
		t.Errorf("%d products are rated well and %d are not: too much alike", good[true], good[false])
	}
}
