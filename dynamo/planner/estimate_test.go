package planner

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

func TestPageEstimate(t *testing.T) {
	languages := func(n int) (out []comment.Language) {
		for i := range n {
			out = append(out, comment.Language([]byte{'a' + byte(i/26), 'a' + byte(i%26)}))
		}
		return out
	}
	for _, row := range []struct {
		why    string
		size   int
		filter comment.Filter
		want   float64
	}{
		{"one comment and the one beyond it: half a unit", 1, comment.Filter{}, 0.5},
		{"four comments of 1 KB fill half a unit", 3, comment.Filter{}, 0.5},
		{"a fifth begins another", 4, comment.Filter{}, 1},
		{"101 comments", 100, comment.Filter{}, 13},
		{"each partition may hold the whole page", 100, comment.Filter{Ratings: []int{1, 2, 3}}, 3 * 13},
		{"four are read a few comments at a time, and some of them again", 100, comment.Filter{Languages: languages(2), Ratings: []int{1, 2}}, 4*0.5 + 3*13},
		{"32 partitions of their own", 1, comment.Filter{Languages: languages(32)}, 16},
		{"33 are read a few comments at a time, and some of them again", 1, comment.Filter{Languages: languages(33)}, 33*0.5 + 3*0.5},
	} {
		got := PageEstimate(comment.Query{Filter: row.filter, Slice: comment.Slice{Size: row.size}})
		if got != row.want {
			t.Errorf("%s: %v units, want %v", row.why, got, row.want)
		}
	}
}

func TestCountEstimate(t *testing.T) {
	for _, row := range []struct {
		why      string
		filter   comment.Filter
		counting comment.Counting
		want     float64
	}{
		{"400 comments of 1 KB, half a unit for each four", comment.Filter{}, comment.CountTotal, 50},
		{"in five partitions, 80 in each", comment.Filter{}, comment.CountByRating, 50},
		{"in three partitions, 133 in each", comment.Filter{Ratings: []int{1, 2, 3}}, comment.CountTotal, 3 * 17},
		{"in 33 languages, all of the product", comment.Filter{Languages: commenttest.ManyLanguages(33)}, comment.CountTotal, 50},
	} {
		got := CountEstimate(comment.Query{Filter: row.filter, Count: row.counting})
		if got != row.want {
			t.Errorf("%s: %v units, want %v", row.why, got, row.want)
		}
	}
}
