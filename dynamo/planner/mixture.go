package planner

import "github.com/talkback/talkback/comment"

// mixture is the cheapest cover of several indexes. It reads at most one rating across languages.
// The rest of each language is read either from the partition of the language or cell by cell. The
// filter must have languages and ratings. estimate returns the Units and the Price of a cover.
func mixture(filter comment.Filter, estimate func(Cover) (units, price float64)) Candidate {
	best := Candidate{Name: "mixture"}
	for across := range len(filter.Ratings) + 1 {
		var rest []int
		var cover Cover
		for i, rating := range filter.Ratings {
			if i+1 == across {
				cover = byRating(filter.Languages, []int{rating})
			} else {
				rest = append(rest, rating)
			}
		}
		for _, language := range filter.Languages {
			one := []comment.Language{language}
			cover = append(cover, cheaper(estimate, byLanguage(one, rest), cells(one, rest))...)
		}
		units, price := estimate(cover)
		if len(cover) <= maxReads && (best.Cover == nil || price < best.Price) {
			best.Cover, best.Units, best.Price = cover, units, price
		}
	}
	return best
}

// cheaper is the cheaper of two covers of the same cells, none if there are no cells.
func cheaper(estimate func(Cover) (units, price float64), a, b Cover) Cover {
	if len(b) == 0 {
		return b
	}
	_, priceA := estimate(a)
	if _, priceB := estimate(b); priceB <= priceA {
		return b
	}
	return a
}
