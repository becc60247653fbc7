package dynamo

import (
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// What is taken for the size of an entry is what DynamoDB bills in the index of languages and ratings, whose keys are the
// longest, also of a text that is stored compressed.
func TestEntryBytes(t *testing.T) {
	r := commenttest.Rand(t)
	comments := commenttest.Many(r, "globe", 200)
	comments[0].Text = strings.Repeat("so it goes ", 100)
	for _, c := range comments {
		whole := encode(c)
		listed := item{}
		for _, name := range strings.Split(listProjection, ",") {
			if whole[name] != nil {
				listed[name] = whole[name]
			}
		}
		_, bytes, err := decodeSized(listed, c.ProductID)
		if err != nil {
			t.Fatal(err)
		}
		got := entryBytes(c, bytes)
		for _, index := range indexes {
			billed := listedBytes(whole, index.name)
			if exact := index.name == ByLangAndRating; exact && got != billed || got < billed || got > billed+len("/pt-BR/5") {
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
	var small, large measured
	for range 20 {
		small.add(100 + r.IntN(300))
		large.add(1600 + r.IntN(200))
	}
	s.learn("globe", small)
	s.learn("globe", measured{})
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
