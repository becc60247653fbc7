package dynamo

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// The assumed size of an entry equals the size that DynamoDB bills in the index of languages and
// ratings, which has the longest keys. This holds for compressed texts too.
func TestEntryBytes(t *testing.T) {
	r := commenttest.Rand(t)
	comments := commenttest.Many(r, "globe", 200)
	comments[0].Text = strings.Repeat("so it goes ", 100)
	for _, c := range comments {
		whole := layout.Encode(c)
		listed := layout.Item{}
		for _, name := range strings.Split(layout.ListProjection(true), ",") {
			if whole[name] != nil {
				listed[name] = whole[name]
			}
		}
		read := must.Get(layout.DecodeCompressed(listed, c.ProductID, true))(t)
		got := entryBytes(c, read.Bytes)
		for _, index := range layout.ListIndexes() {
			billed := layout.EntrySize(whole, index)
			if exact := index == layout.ByLangAndRating; exact && got != billed || got < billed || got > billed+len("/pt-BR/5") {
				t.Errorf("%s in %s: %d bytes, billed are %d", c, index, got, billed)
			}
		}
	}
}

// Assumed sizes follow those of the comments read, and change slowly.
func TestSizesAreLearnt(t *testing.T) {
	r := commenttest.Rand(t)
	s := newSizes()
	if got := s.of("globe"); got != (planner.Sizes{}) {
		t.Errorf("of a product never read: %v", got)
	}
	var small, large sizeSums
	for range 20 {
		small.add(5, 100+r.IntN(300))
		large.add(5, 1600+r.IntN(200))
	}
	s.learn("globe", small)
	s.learn("globe", sizeSums{})
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

// Sizes are learnt for each rating: longer comments of one rating affect only that rating's
// partitions. A rating that was never read is assumed to be like the others.
func TestSizesAreLearntByRating(t *testing.T) {
	var page sizeSums
	for range 5 {
		page.add(1, 1700)
		page.add(5, 200)
		page.add(5, 200)
		page.add(5, 200)
	}
	page.add(9, 500) // an out-of-range rating, edited by hand
	s := newSizes()
	for range 60 {
		s.learn("globe", page)
	}
	sizes := s.of("globe")
	mean := func(index layout.Index, rating int) int {
		return int(sizes.Of(layout.Partition{Index: index, Rating: rating}).Mean)
	}
	for _, row := range []struct {
		index            layout.Index
		rating, low, top int
	}{{layout.ByRating, 1, 1600, 1700}, {layout.ByLangAndRating, 5, 190, 210}, {layout.ByRating, 3, 560, 580}, {layout.All, 0, 560, 580}, {layout.ByLang, 0, 560, 580}} {
		if got := mean(row.index, row.rating); got < row.low || got > row.top {
			t.Errorf("entries of %s and rating %d have %d bytes, want %d to %d", row.index, row.rating, got, row.low, row.top)
		}
	}
}

// A failed attempt is remembered for failedAge, for lists of the same filter only.
func TestFailedAttempts(t *testing.T) {
	p := comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1, 2}}}
	other, rated := p, p
	other.Product = "43"
	rated.Filter = comment.Filter{Ratings: []int{1, 3}}
	for _, row := range []struct {
		why  string
		key  attemptKey
		age  time.Duration
		want bool
	}{
		{"the next page", keyOf(p).attempt(comment.ReadPage), failedAge - 1, true},
		{"when counts may have been read anew", keyOf(p).attempt(comment.ReadPage), failedAge, false},
		{"a probe has a bound of its own", keyOf(p).attempt(comment.ReadProbe), 0, false},
		{"another product", keyOf(other).attempt(comment.ReadPage), 0, false},
		{"another filter", keyOf(rated).attempt(comment.ReadPage), 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := attempts{newLRU[attemptKey, time.Time](remembered, nil)}
			a.Add(keyOf(p).attempt(comment.ReadPage), time.Now())
			time.Sleep(row.age)
			if got := a.failedLately(row.key); got != row.want {
				t.Errorf("%s: %t", row.why, got)
			}
		})
	}
}
