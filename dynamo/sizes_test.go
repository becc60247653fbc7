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
	if got := s.of("globe"); got != (Sizes{}) {
		t.Errorf("of a product never read: %v", got)
	}
	small, large := commenttest.Many(r, "globe", 20), commenttest.Many(r, "globe", 20)
	for i := range large {
		large[i] = commenttest.Large(r, "globe", 1600)
	}
	s.learn("globe", small)
	s.learn("globe", nil)
	first := s.of("globe").Any
	s.learn("globe", large)
	second := s.of("globe").Any
	for range 50 {
		s.learn("globe", large)
	}
	last := s.of("globe").Any
	if !(first.Mean < second.Mean && second.Mean < 700 && last.Mean > 1600 && last.Deviation < second.Deviation) {
		t.Errorf("small %v, then one page of large ones %v, then many %v", first, second, last)
	}
}

// Comments of one rating that are longer than others are so in the partitions of that rating alone; a rating that was not
// read is taken to be like the others, and a page of one comment teaches little.
func TestSizesAreLearntByRating(t *testing.T) {
	r := commenttest.Rand(t)
	s := newSizes()
	page := commenttest.Many(r, "globe", 20)
	for i := range page {
		page[i].Rating = 5
		if i%4 == 0 {
			page[i] = commenttest.Large(r, "globe", 1600)
			page[i].Rating = 1
		}
	}
	for range 60 {
		s.learn("globe", page)
	}
	one := slices.Clone(page[:1])
	one[0].Rating = 9 // not what it can be, so someone wrote it by hand
	s.learn("globe", one)
	sizes := s.of("globe")
	mean := func(index Index, rating int) float64 { return sizes.of(Partition{Index: index, Rating: rating}).Mean }
	if !(mean(ByRating, 1) > 1600 && mean(ByLangAndRating, 5) < 500 && mean(ByRating, 3) > 500 && mean(ByRating, 3) < 1000) {
		t.Errorf("angry comments are longer than friendly ones, and learnt was %v", sizes)
	}
	if all := mean(All, 0); all < 500 || all > 1000 || all != mean(ByLang, 0) {
		t.Errorf("a quarter of all comments is long, and learnt was %v", sizes)
	}
}
