package planner

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
)

// mixture is the cheapest cover of several indexes, if its Price is at most that; else it has no
// Cover. It reads at most one rating across languages. The rest of each language is read either from
// the partition of the language or cell by cell. The filter must have languages and ratings.
func (e *estimator) mixture(most float64) Candidate {
	best := Candidate{Name: "mixture", Price: most}
	cover := make(Cover, 0, mostExpected) // few have more
	filter := e.filter
	list := newSplitting(filter)
	for across := range len(e.filter.Ratings) + 1 {
		cover = cover[:0]
		rest := e.filter.Ratings
		if across > 0 {
			cover = append(cover, list.rating(rest[across-1]))
			if _, price := e.estimate(cover, best.Price); price > best.Price {
				continue // it alone is too dear
			}
			rest = without(rest, across-1)
		}
		filter.Ratings = rest
		others := newSplitting(filter)
		for i := range e.filter.Languages {
			cover = e.addCheaper(cover, &others, e.filter.Languages[i:i+1], rest)
		}
		units, price := e.estimate(cover, best.Price)
		if len(cover) <= maxReads && (price < best.Price || price == best.Price && best.Cover == nil) {
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
func (e *estimator) addCheaper(cover Cover, list *splitting, language []comment.Language, ratings []int) Cover {
	if len(ratings) == 0 {
		return cover
	}
	before := len(cover)
	cover = list.addCells(append(cover, list.language(language[0])), language, ratings)
	whole, cells := cover[before:before+1], cover[before+1:]
	_, price := e.estimate(whole, math.Inf(1))
	if _, priceOfCells := e.estimate(cells, price); price < priceOfCells {
		return cover[:before+1]
	}
	return append(cover[:before], cells...)
}
