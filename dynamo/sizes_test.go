package dynamo

import (
	"math"
	"slices"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// What is taken for the size of an entry is nearly what DynamoDB bills, in each index.
func TestEntryBytes(t *testing.T) {
	r := commenttest.Rand(t)
	for _, c := range commenttest.Many(r, "globe", 200) {
		it := encode(c)
		for _, index := range indexes {
			billed := sizeOf(it, slices.Concat([]string{attrPK, attrSK, index.partitionKey, attrSort}, listAttrs))
			if got := entryBytes(c); math.Abs(float64(got-billed)) > 16 {
				t.Errorf("%s in %s: %d bytes, billed are %d", c, index.name, got, billed)
			}
		}
	}
}

// Sizes follow those of the comments read, and forget slowly.
func TestSizesAreLearnt(t *testing.T) {
	r := commenttest.Rand(t)
	s := newSizes()
	if got := s.of("globe"); got != (ItemSize{}) {
		t.Errorf("of a product never read: %v", got)
	}
	small, large := commenttest.Many(r, "globe", 20), commenttest.Many(r, "globe", 20)
	for i := range large {
		large[i] = commenttest.Large(r, "globe", 1600)
	}
	s.learn("globe", small)
	s.learn("globe", nil)
	first := s.of("globe")
	s.learn("globe", large)
	second := s.of("globe")
	for range 50 {
		s.learn("globe", large)
	}
	last := s.of("globe")
	if !(first.Mean < second.Mean && second.Mean < 700 && last.Mean > 1600 && last.Deviation < second.Deviation) {
		t.Errorf("small %v, then one page of large ones %v, then many %v", first, second, last)
	}
}
