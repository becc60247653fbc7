package counts

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

// bestCount returns the number of comments with the best rating, in one language, or in all if that
// is empty.
func bestCount(stats comment.Stats, language comment.Language) int {
	filter := comment.Filter{Ratings: []int{comment.MaxRating}}
	if language != "" {
		filter.Languages = []comment.Language{language}
	}
	return stats.Counts(filter)[comment.MaxRating-1]
}

// languagesOf returns all languages of some grids, sorted, without the row that languages share.
func languagesOf(grids ...comment.Stats) []comment.Language {
	var out []comment.Language
	for _, stats := range grids {
		for language := range stats {
			if language != comment.OtherLanguages {
				out = append(out, language)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cellsThatDiffer yields the cells in which two grids differ, in order.
func cellsThatDiffer(a, b comment.Stats) func(yield func(comment.Cell) bool) {
	return func(yield func(comment.Cell) bool) {
		for _, language := range languagesOf(a, b) {
			for rating := 1; rating <= comment.MaxRating; rating++ {
				cell := comment.Cell{Language: language, Rating: rating}
				if at(a, cell) != at(b, cell) && !yield(cell) {
					return
				}
			}
		}
	}
}

func at(stats comment.Stats, cell comment.Cell) int { return stats[cell.Language][cell.Rating-1] }
