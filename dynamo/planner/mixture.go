package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

// mixture is the cheapest cover of several indexes. It reads at most one rating across languages.
// The rest of each language is read either from the partition of the language or cell by cell. The
// filter must have languages and ratings. estimate returns the Units and the Price of a cover.
func mixture(filter comment.Filter, estimate func(Cover) (units, price float64)) Candidate {
	best := Candidate{Name: "mixture"}
	cover := make(Cover, 0, narrowParts(filter)+2)
	for across := range len(filter.Ratings) + 1 {
		cover = cover[:0]
		rest := filter.Ratings
		if across > 0 {
			cover = append(cover, ratingPart(filter.Languages, rest[across-1]))
			rest = without(rest, across-1)
		}
		for i := range filter.Languages {
			cover = addCheaper(cover, filter.Languages[i:i+1], rest, estimate)
		}
		units, price := estimate(cover)
		if len(cover) <= maxReads && (best.Cover == nil || price < best.Price) {
			best.Cover, best.Units, best.Price = append(best.Cover[:0], cover...), units, price
		}
	}
	return best
}

// without are ratings without one of them, nil if it is the only one.
func without(ratings []int, i int) []int {
	if len(ratings) == 1 {
		return nil
	}
	return slices.Concat(ratings[:i], ratings[i+1:])
}

// addCheaper adds the cheaper of two covers of some ratings of a language to a cover: the cells, or
// the partition of the language.
func addCheaper(cover Cover, language []comment.Language, ratings []int, estimate func(Cover) (units, price float64)) Cover {
	if len(ratings) == 0 {
		return cover
	}
	before := len(cover)
	cover = addCells(append(cover, languagePart(language[0], ratings)), language, ratings)
	whole, cells := cover[before:before+1], cover[before+1:]
	_, price := estimate(whole)
	if _, priceOfCells := estimate(cells); price < priceOfCells {
		return cover[:before+1]
	}
	return append(cover[:before], cells...)
}
