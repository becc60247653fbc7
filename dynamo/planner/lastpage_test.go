package planner

import (
	"math"
	"slices"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// The expected number of other items between the wanted ones equals the average for wanted items at
// random places.
func TestBetween(t *testing.T) {
	r := commenttest.Rand(t)
	part := Part{Partition: layout.Partition{Index: layout.ByLang, Language: "de"}, Conditions: comment.Filter{Ratings: []int{1}}.Conditions()}
	for _, row := range []struct{ scanned, returned, n int }{{40, 22, 22}, {40, 30, 22}, {60, 5, 3}, {30, 10, 1}} {
		e := LastPage{cells: []cellCount{{comment.Cell{Language: "de", Rating: 1}, row.n}}, last: comment.Cell{Language: "de", Rating: 1}, full: true,
			scans: []scan{{part, row.scanned, row.returned}}}
		mean, variance, known := e.between(&part, e.count(&part))
		others := part
		others.Conditions = comment.Filter{Ratings: []int{2}}.Conditions()
		if _, _, known := e.between(&others, e.count(&others)); known {
			t.Error("a read of some ratings knows the items between those of others")
		}
		sum, squares := 0.0, 0.0
		const trials = 20000
		for range trials {
			places := r.Perm(row.scanned)[:row.returned]
			slices.Sort(places)
			between := float64(places[row.n-1] + 1 - row.n)
			sum += between / trials
			squares += between * between / trials
		}
		if measured := squares - sum*sum; !known || math.Abs(mean-sum) > 0.2 || math.Abs(variance-measured) > 0.1*measured+0.1 {
			t.Errorf("%+v: %.2f and variance %.2f, measured %.2f and %.2f", row, mean, variance, sum, measured)
		}
	}
	if _, _, known := (&LastPage{}).between(&part, 0); known {
		t.Error("a page that was not read by a partition knows what lies between there")
	}
}

// A page that is read again needs as many comments of a part as it showed: one less if the page
// ended with them, one more to see the end of the list.
func TestWantedOfTheLastPage(t *testing.T) {
	cell := comment.Cell{Language: "de", Rating: 1}
	of := Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 1}}
	other := Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 2}}
	for _, row := range []struct {
		why   string
		full  bool
		part  *Part
		share float64
		want  float64
	}{
		{"a full page ends with the part", true, &of, .5, 8},
		{"it ends with another part", true, &other, .5, 9},
		{"the part has the whole list", true, &of, 1, 9},
		{"the list ended with the page", false, &of, 1, 10},
		{"it ended, and the part has some of it", false, &of, .5, 9},
	} {
		page := LastPage{last: cell, full: row.full}
		if got, _ := page.wanted(row.part, 9, row.share); got != row.want {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}
