package counts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// How large the statistics of a product may become.
//
// The statistics item holds a row of counts for each language, and an item has at most 400 KB. So that many languages,
// which one author can make up, do not fill it, comment.MaxLanguageRows of them have a row there. All others share one
// row, comment.OtherLanguages, and the counts of each stand in its own item beside its place on the leaderboard:
// whatever the languages, each count is exact, and each item is small.
//
// Which row a language is counted in follows from the statistics item alone: in its own if there is one. A new language
// gets one while there is room and no language shares a row. So either all comments of a language are counted in a row of
// its own or none is, and marks need not say which. A rebuild gives the rows to the languages of most comments.

// rowOf is the language in whose row of a grid the comments of a language are counted.
func rowOf(stats comment.Stats, language comment.Language) comment.Language {
	if _, own := stats[language]; own {
		return language
	}
	if full(stats) {
		return comment.OtherLanguages
	}
	return language
}

// full tells whether a grid has no row for a further language.
func full(stats comment.Stats) bool {
	_, shared := stats[comment.OtherLanguages]
	return shared || len(stats) >= comment.MaxLanguageRows
}

// add counts n more comments of a cell, fewer if n is negative.
func (s *statistics) add(cell comment.Cell, n int) {
	row := rowOf(s.stats, cell.Language)
	if row == comment.OtherLanguages {
		s.others.Add(cell, n)
	}
	s.stats.Add(comment.Cell{Language: row, Rating: cell.Rating}, n)
}

// place is what the item of a language says.
func (s statistics) place(product string, language comment.Language) leaderPlace {
	if row, other := s.others[language]; other {
		return leaderPlace{product: product, language: language, count: row[comment.MaxRating-1], row: row}
	}
	return leaderPlace{product: product, language: language, count: s.stats[language][comment.MaxRating-1]}
}

// grid are the counts of all languages, as far as those that share a row are at hand.
func (s statistics) grid() comment.Stats {
	grid := s.stats.Clone()
	delete(grid, comment.OtherLanguages)
	for language, row := range s.others {
		for i, n := range row {
			grid.Add(comment.Cell{Language: language, Rating: i + 1}, n)
		}
	}
	return grid
}

// shared is what the row of the languages that share it has to say, empty if there are none.
func (s statistics) shared() comment.Counts { return s.others.Counts(comment.Filter{}) }

// arranged are statistics of the counts of all languages. Rows go to the languages that have one in kept if that leaves no
// more than fit, and else to those of most comments.
func arranged(grid, kept comment.Stats) statistics {
	s := statistics{stats: comment.Stats{}, others: comment.Stats{}}
	owners := rowOwners(grid, kept)
	for language, counts := range grid {
		if owners != nil && !owners[language] {
			s.others[language] = counts
			continue
		}
		s.stats[language] = counts
	}
	if shared := s.shared(); shared != (comment.Counts{}) {
		s.stats[comment.OtherLanguages] = shared
	}
	return s
}

// rowOwners are the languages that have rows of their own; nil for all.
func rowOwners(grid, kept comment.Stats) map[comment.Language]bool {
	_, shares := kept[comment.OtherLanguages]
	owners := map[comment.Language]bool{}
	for language := range grid {
		if _, own := kept[language]; own {
			owners[language] = true
		}
	}
	if shares && len(owners) <= comment.MaxLanguageRows {
		return owners
	}
	if len(grid) <= comment.MaxLanguageRows {
		return nil
	}
	byUse := slices.SortedFunc(maps.Keys(grid), func(a, b comment.Language) int {
		return cmp.Or(cmp.Compare(grid[b].Total(), grid[a].Total()), strings.Compare(string(a), string(b)))
	})
	clear(owners)
	for _, language := range byUse[:comment.MaxLanguageRows] {
		owners[language] = true
	}
	return owners
}
