package planbench

import (
	"testing"

	"github.com/talkback/talkback/comment"
)

// A product weighs the same however many of its pages were measured, or as much as its comments.
func TestWeights(t *testing.T) {
	pages := func(comments int, units ...float64) []Row {
		var rows []Row
		for i, u := range units {
			row := Row{Comments: comments, Filter: comment.Filter{Ratings: []int{1, 2}}, Page: i + 1, Shown: 1}
			row.Costs[Planned] = Cost{Units: u, Waves: 1 + i}
			row.Costs[Foresight] = Cost{Units: 1, Waves: 1}
			rows = append(rows, row)
		}
		return rows
	}
	var summary Summary
	set := Set{Products: 2, Comments: 100}
	summary.Add(set, pages(10, 4))
	summary.Add(set, pages(90, 1, 3))
	want := map[Weight]float64{Equal: (4 + 2) / 2.0, ByComments: 0.1*4 + 0.9*2}
	found := 0
	for _, a := range summary.Averages() {
		if a.Way == Planned && a.Group == (Group{Set: set, Weight: a.Weight, Languages: anyLanguages, Ratings: 2}) {
			found++
			if a.UnitsPerPage != want[a.Weight] || a.OverForesight != want[a.Weight] || a.Pages != 3 || a.MostWaves != 2 {
				t.Errorf("weight %s: %+v, want %v units a page", a.Weight, a, want[a.Weight])
			}
		}
	}
	if found != 2 {
		t.Errorf("%d averages of the planned pages of two ratings, want one for each weight", found)
	}
}
