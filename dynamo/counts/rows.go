package counts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// The maximum size of a product's statistics.
//
// The statistics item holds a row of counts for each language, and an item has at most 400 KB. One
// author can make up many languages. To keep them from filling the item, only
// comment.MaxLanguageRows languages have rows there. All others share one row,
// comment.OtherLanguages. The counts of each are in its own item, beside its place on the
// leaderboard. So each count is exact and each item is small, whatever the languages.
//
// The statistics item alone tells which row a language is counted in: its own row if it has one. A
// new language gets a row while there is room and no language shares one. So all comments of a
// language are counted in one row, and markers need not say in which. A rebuild gives the rows to
// the languages with the most comments.

// rowOf returns the language in whose row of a grid the comments of a language are counted.
func rowOf(stats comment.Stats, language comment.Language) comment.Language {
	if _, own := stats[language]; own {
		return language
	}
	if full(stats) {
		return comment.OtherLanguages
	}
	return language
}

// full reports whether a grid has no row for a further language.
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
	cell.Language = row
	s.stats.Add(cell, n)
}

// enter counts a new comment at a position in a cell.
func (s *statistics) enter(cell comment.Cell, position comment.Position) {
	row := comment.Cell{Language: rowOf(s.stats, cell.Language), Rating: cell.Rating}
	s.newest.Enter(row, s.stats[row.Language].Counts[row.Rating-1], position)
	s.add(cell, 1)
}

// leave stops counting the comment at a position in a cell. stays is whether it is still counted
// with the same rating.
func (s *statistics) leave(cell comment.Cell, position comment.Position, stays bool) {
	s.add(cell, -1)
	if !stays {
		s.newest.Leave(cell.Rating, s.stats.Counts(comment.Filter{})[cell.Rating-1], position)
	}
}

// place returns the content of a language's item.
func (s statistics) place(product string, language comment.Language) leaderPlace {
	if row, other := s.others[language]; other {
		return leaderPlace{product: product, language: language, count: row.Counts[comment.MaxRating-1], row: row}
	}
	return leaderPlace{product: product, language: language, count: s.stats[language].Counts[comment.MaxRating-1]}
}

// grid returns the counts of all languages. It lacks languages in the shared row whose counts were
// not read.
func (s statistics) grid() comment.Stats {
	grid := s.stats.Clone()
	delete(grid, comment.OtherLanguages)
	for language, row := range s.others {
		if grid[language] = grid[language].Plus(row); grid[language] == (comment.Row{}) {
			delete(grid, language)
		}
	}
	return grid
}

// shared returns what the shared row must be: the sum of the counts of its languages.
func (s statistics) shared() (sum comment.Row) {
	for _, row := range s.others {
		sum = sum.Plus(row)
	}
	return sum
}

// arranged makes statistics of the counts of all languages. Rows go to the languages that have one
// in kept if not too many do, or else to the languages with the most comments.
func arranged(grid, kept comment.Stats) statistics {
	s := statistics{stats: comment.Stats{}, others: comment.Stats{}}
	owners := rowOwners(grid, kept)
	for language, row := range grid {
		if owners != nil && !owners[language] {
			s.others[language] = row
			continue
		}
		s.stats[language] = row
	}
	if shared := s.shared(); shared != (comment.Row{}) {
		s.stats[comment.OtherLanguages] = shared
	}
	return s
}

// rowOwners returns the languages that get rows of their own; nil for all.
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
