package planner

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// More languages never lower the estimate of a page, and a page of many partitions costs little
// more than half a unit for each.
func TestEstimateRisesWithPartitions(t *testing.T) {
	for _, size := range []int{1, 20, 100} {
		before := 0.0
		for languages := 1; languages <= 40; languages++ {
			q := comment.Query{Filter: comment.Filter{Languages: commenttest.ManyLanguages(languages), Ratings: []int{1, 2, 3, 4}}, Slice: comment.Slice{Size: size}}
			estimate := PageEstimate(q)
			if estimate < before {
				t.Errorf("%d comments in %d languages are estimated at %v, in one fewer at %v", size, languages, estimate, before)
			}
			if most := float64(4*languages)/2 + 3*PageEstimate(comment.Query{Slice: q.Slice}); estimate > most {
				t.Errorf("%d comments in %d languages are estimated at %v, want at most %v", size, languages, estimate, most)
			}
			before = estimate
		}
	}
}
