package planbench

import (
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// bounds are the limits of plans for every number of ratings: their cost as a multiple of
// foresight, the share of pages for which one wave must suffice, and the most waves of any page.
// The generated product is small and its ratings drift, so these figures are worse than those of
// most real products. They guard against getting worse.
var bounds = map[Way]struct {
	overForesight, oneWave float64
	waves                  int
}{
	Planned: {1.32, 0.87, 3},
	Again:   {1.18, 0.97, 3},
}

// mostDearer limits the cost of a page deep in the list, or of a product with many more comments,
// as a multiple of the first page's.
const mostDearer = 1.25

// Plans cost little more than if every comment were known beforehand, and pages cost no more deep
// in the list, nor with more comments. measureAll itself checks that all ways show the same
// comments and that none costs less than foresight.
func TestPlansAreNearForesight(t *testing.T) {
	var summary Summary
	for _, count := range []int{800, 3000} {
		p := must.Get(NewProduct(Generate(count, 1)))(t)
		rows := must.Get(p.measureAll(t.Context(), p.visits(PageSize), everyWay...))(t)
		summary.Add(Set{1, count}, rows)
	}
	averages := summary.Averages()
	for _, a := range averages {
		bound, bounded := bounds[a.Way]
		if a.Languages != anyLanguages || a.Page != 0 || !bounded {
			continue
		}
		if a.OverForesight > bound.overForesight || a.OneWave < bound.oneWave || a.MostWaves > bound.waves {
			t.Errorf("%d comments, %v, %s ratings: %.3f times foresight, one wave for %.1f %% of %d pages, %d at most",
				a.Comments, a.Way, numberOrAny(a.Ratings), a.OverForesight, 100*a.OneWave, a.Pages, a.MostWaves)
		}
	}
	group := func(comments, page int) Group {
		return Group{Set: Set{1, comments}, Weight: Equal, Languages: anyLanguages, Page: page}
	}
	checkDearer(t, averages, group(800, 0), group(3000, 0))
	checkDearer(t, averages, group(3000, 1), group(3000, 100))
}

// checkDearer compares the cost of planned pages of two groups.
func checkDearer(t *testing.T, averages []Average, near, far Group) {
	t.Helper()
	cost := map[Group]float64{}
	for _, a := range averages {
		if a.Way == Planned {
			cost[a.Group] = a.UnitsPerPage
		}
	}
	if cost[near] == 0 || cost[far] > mostDearer*cost[near] {
		t.Errorf("a page costs %.2f units of %+v, and %.2f of %+v", cost[near], near, cost[far], far)
	}
}
