package planner

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// The chosen cover is the first of the candidates, with the same estimates, though choosing does
// not price the others in full.
func TestChosenIsTheFirstCandidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter, err := comment.Filter{
			Languages: rapid.SliceOfN(rapid.SampledFrom(commenttest.ManyLanguages(4)), 0, 4).Draw(t, "languages"),
			Ratings:   rapid.SliceOfN(rapid.IntRange(1, 5), 1, 5).Draw(t, "ratings"),
		}.Normalize()
		must.Do(t, err)
		p := Planner{Filter: filter, Known: Knowledge{Stats: comment.Stats{}, Trusted: rapid.Bool().Draw(t, "trusted")}}
		p.Known.Sizes.Any = rapid.SampledFrom([]ItemSize{{}, {Mean: 60, Deviation: 20}, {Mean: 900, Deviation: 300}}).Draw(t, "sizes")
		p.Known.Sizes.ByRating[0] = p.Known.Sizes.Any
		p.Known.Sizes.ByRating[0].Mean *= rapid.SampledFrom([]float64{0, 1, 3}).Draw(t, "worst")
		for _, language := range commenttest.ManyLanguages(4) { // few different numbers, so that prices are equal
			p.Known.Stats[language] = comment.Row{Counts: rapid.SampledFrom([]comment.Counts{{}, {3, 0, 0, 0, 9}, {700}, {50, 50, 50, 50, 50}, {300, 30, 0, 0, 900}}).Draw(t, "counts")}
		}
		request := Request{Window: windowOf(comment.Query{Filter: filter}), Want: rapid.IntRange(1, 60).Draw(t, "want")}
		if shown := rapid.SampledFrom([]int{0, 1, request.Want}).Draw(t, "shown"); shown > 0 && len(filter.Languages)*len(filter.Ratings) > 0 { // whatever the counts say
			last := comment.Cell{Language: rapid.SampledFrom(filter.Languages).Draw(t, "shown language"), Rating: rapid.SampledFrom(filter.Ratings).Draw(t, "shown rating")}
			request.Last = &LastPage{cells: []cellCount{{last, shown}}, last: last, full: shown == request.Want}
		}
		plan := p.Take(request)
		if diff := cmp.Diff(plan.Candidates()[0], plan.Chosen); diff != "" {
			t.Fatalf("the first candidate (-) and the chosen one (+) differ: %s", diff)
		}
		for _, read := range plan.Reads {
			if read.Limit < 1 || math.IsInf(plan.Chosen.Price, 1) {
				t.Fatalf("a read of %d items, for %v", read.Limit, plan.Chosen.Price)
			}
		}
	})
}
