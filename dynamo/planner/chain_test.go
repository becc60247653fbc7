package planner

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
)

// The first link is read for all missing comments, and later ones along with it as far as those
// before them may be too few.
func TestNextReadsOfAChain(t *testing.T) {
	s := StretchOf(comment.Query{Order: comment.HighestRated})
	for _, row := range []struct {
		why      string
		want     int
		sure     bool
		believed []int
		progress []Progress // of the first links
		reads    [][2]int   // link and number
	}{
		{"the first link has exactly enough", 5, true, []int{5, 9, 9, 9, 9}, nil, [][2]int{{0, 5}}},
		{"it has too few, and the second has the rest", 5, true, []int{3, 10, 9, 9, 9}, nil, [][2]int{{0, 5}, {1, 2}}},
		{"little is expected of the second", 20, true, []int{3, 1, 30, 9, 9}, nil, [][2]int{{0, 20}, {1, 5}, {2, 16}}},
		{"the first ended early", 5, true, []int{5, 9, 9, 9, 9}, []Progress{{Taken: 2, Ended: true}}, [][2]int{{1, 3}}},
		{"the first has more than expected, and probably as many again", 8, true, []int{2, 9, 9, 9, 9}, []Progress{{Taken: 4}}, [][2]int{{0, 4}}},
		{"a guess is trusted for a fourth", 8, false, []int{30, 40, 9, 9, 9}, nil, [][2]int{{0, 8}, {1, 8}}},
		{"a guess of four times as many", 8, false, []int{32, 40, 9, 9, 9}, nil, [][2]int{{0, 8}}},
		{"the page is full", 8, true, []int{9, 9, 9, 9, 9}, []Progress{{Taken: 8}}, nil},
	} {
		progress := make([]Progress, len(s.Links))
		copy(progress, row.progress)
		var got [][2]int
		for _, read := range (Chain{stretch: s, want: row.want, believed: row.believed, sure: row.sure}).Next(progress) {
			got = append(got, [2]int{read.Link, read.Want})
		}
		check.Equal(t, row.reads, got, row.why)
	}
}

// A list of comments with helpful votes alone is read in the order of its only index, never whole.
func TestHelpfulAloneAreNotReadWhole(t *testing.T) {
	q := comment.Query{Product: "p", Filter: comment.Filter{Ratings: []int{4, 5}, Helpful: new(true)}, Order: comment.MostHelpful}
	p := Planner{Product: q.Product, Filter: q.Filter}
	if whole, better := p.Whole(p.Chain(StretchOf(q), 2, Seen{}), 100); better {
		t.Errorf("%+v", whole)
	}
}
