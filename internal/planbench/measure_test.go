package planbench

import "testing"

// What plans are held to for every number of ratings: how many times as much as foresight they may
// cost, for what share of pages one wave has to be enough, and how many waves no page may exceed.
// The generated product is small and its ratings drift, so that the figures are worse than those of
// most real ones; what they guard is that they do not get worse.
var bounds = map[Way]struct {
	overForesight, oneWave float64
	waves                  int
}{
	Planned: {1.32, 0.87, 3},
	Again:   {1.18, 0.97, 3},
}

// mostDearer is how many times as much a page may cost deep in the list, or of a product with many
// more comments.
const mostDearer = 1.25

// Plans cost little more than if every comment were known beforehand, pages do not get dearer deep
// in the list, nor with more comments. That all ways show the same comments and none costs less
// than foresight, Measure sees by itself.
func TestPlansAreNearForesight(t *testing.T) {
	var summary Summary
	for _, count := range []int{800, 3000} {
		p, err := NewProduct(t.Context(), Generate(count, 1))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Measure(t.Context(), p, PageSize)
		if err != nil {
			t.Fatal(err)
		}
		summary.Add(Set{1, count}, rows)
	}
	averages := summary.Averages()
	for _, a := range averages {
		if a.Languages == anyLanguages && a.Page == 0 {
			checkPlanned(t, a)
		}
	}
	group := func(comments, page int) Group {
		return Group{Set: Set{1, comments}, Weight: Equal, Languages: anyLanguages, Page: page}
	}
	checkDearer(t, averages, group(800, 0), group(3000, 0))
	checkDearer(t, averages, group(3000, 1), group(3000, 100))
}

func checkPlanned(t *testing.T, a Average) {
	t.Helper()
	bound, bounded := bounds[a.Way]
	if bounded && (a.OverForesight > bound.overForesight || a.OneWave < bound.oneWave || a.MostWaves > bound.waves) {
		t.Errorf("%d comments, %v, %s ratings: %.3f times foresight, one wave for %.1f %% of %d pages, %d at most",
			a.Comments, a.Way, numberOrAny(a.Ratings), a.OverForesight, 100*a.OneWave, a.Pages, a.MostWaves)
	}
}

// checkDearer compares what planned pages of two groups cost.
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
