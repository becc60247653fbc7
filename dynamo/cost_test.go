package dynamo

import (
	"fmt"
	"testing"

	"github.com/talkback/talkback/comment"
)

// BenchmarkPlan makes plans, by what is known of a product with many languages.
func BenchmarkPlan(b *testing.B) {
	stats := comment.Stats{}
	for i, language := range manyLanguages(12) {
		stats[language] = comment.Counts{100 * i, 40, 70, 300, 1500}
	}
	for _, row := range []struct{ languages, ratings int }{{0, 1}, {0, 2}, {0, 4}, {1, 2}, {2, 4}, {10, 4}, {40, 4}} {
		b.Run(fmt.Sprintf("languages=%d/ratings=%d", row.languages, row.ratings), func(b *testing.B) {
			filter, err := comment.Filter{Languages: manyLanguages(row.languages), Ratings: []int{1, 2, 3, 4}[:row.ratings]}.Normalize()
			if err != nil {
				b.Fatal(err)
			}
			p := planner{product: "p", filter: filter, known: Known{Stats: stats, Size: unknownSize}}
			w := windowOf(comment.Query{Filter: filter, Order: comment.NewestFirst})
			b.ReportAllocs()
			for b.Loop() {
				p.take(w, comment.ReadPage, 21)
			}
		})
	}
}
