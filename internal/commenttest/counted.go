package commenttest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Stats returns the statistics of a product, by counting each comment.
func (m *Model) Stats(product string) comment.Stats {
	stats := comment.Stats{}
	for _, c := range m.List(product, comment.Filter{}, comment.NewestFirst) {
		stats.Add(c.Cell(), 1)
	}
	return stats
}

// Leaders returns the first products by their number of comments with the best rating, in one
// language, or in all if language is empty.
func (m *Model) Leaders(language comment.Language, first int) []comment.Leader {
	counts := map[string]int{}
	for _, c := range m.All() {
		if c.Rating == comment.MaxRating && (language == "" || c.Language == language) {
			counts[c.ProductID]++
		}
	}
	var leaders []comment.Leader
	for product, count := range counts {
		leaders = append(leaders, comment.Leader{Product: product, Count: count})
	}
	slices.SortFunc(leaders, func(a, b comment.Leader) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Product, b.Product))
	})
	leaders = leaders[:min(first, len(leaders))]
	for i := range leaders {
		leaders[i].Rank = i + 1
	}
	return leaders
}
