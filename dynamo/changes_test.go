package dynamo

import (
	"strconv"
	"testing"
	"time"
)

// The change number of a product rises with each change. It never falls, even when the product is
// forgotten.
func TestNumbersOfChanges(t *testing.T) {
	c := newChanges()
	numbers := []uint64{c.number("42")}
	change := func(product string) {
		c.note(product, time.Unix(1, 0))
		numbers = append(numbers, c.number("42"))
	}
	change("42")
	change("43")
	change("42")
	for other := range remembered {
		c.note("other "+strconv.Itoa(other), time.Unix(2, 0))
	}
	if c.products.Contains("42") {
		t.Fatal("it is still remembered")
	}
	numbers = append(numbers, c.number("42"))
	change("42")
	for i, rises := range []bool{true, false, true, false, true} {
		before, after := numbers[i], numbers[i+1]
		if after < before || rises && after == before {
			t.Errorf("numbers %v", numbers)
		}
	}
}
