package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// maxReads is how many partitions a plan reads at once. Each call costs at least half a read unit and a connection.
const maxReads = 32

// Part is a part of a cover: a partition, and what of it is wanted.
type Part struct {
	layout.Partition
	// Languages and Ratings are the residual filter: what to keep of a partition that holds others too; nil for all.
	Languages []comment.Language
	Ratings   []int
}

// residual tells whether the partition holds others than those wanted.
func (p Part) residual() bool { return p.Languages != nil || p.Ratings != nil }

// equal tells whether two parts are the same.
func (p Part) equal(other Part) bool {
	return p.Partition == other.Partition && slices.Equal(p.Languages, other.Languages) && slices.Equal(p.Ratings, other.Ratings)
}

// Holds tells whether the part is read for a cell.
func (p Part) Holds(cell comment.Cell) bool {
	return (!p.Index.SplitsByLanguage() || p.Language == cell.Language) &&
		(!p.Index.SplitsByRating() || p.Rating == cell.Rating) &&
		(p.Languages == nil || slices.Contains(p.Languages, cell.Language)) &&
		(p.Ratings == nil || slices.Contains(p.Ratings, cell.Rating))
}

// wanted is what of a product the part is read for.
func (p Part) wanted() comment.Filter {
	filter := comment.Filter{Languages: p.Languages, Ratings: p.Ratings}
	if p.Index.SplitsByLanguage() {
		filter.Languages = []comment.Language{p.Language}
	}
	if p.Index.SplitsByRating() {
		filter.Ratings = []int{p.Rating}
	}
	return filter
}

// Cover is a set of parts that holds every comment a filter allows exactly once, and nothing else.
type Cover []Part

// Candidate is a cover that a planner may choose.
type Candidate struct {
	// Name says of what kind the cover is: "whole product", "ratings", "languages", "cells" or "mixture".
	Name string
	// Cover is what it reads.
	Cover Cover
	// Units is what its first reads are expected to cost in read units, 0 when nobody knows.
	Units float64
}

// covers lists the covers of a normalized filter that use one index each, the one that holds least beside what the
// filter chooses first. The last is always the whole product.
func covers(filter comment.Filter) []Candidate {
	var out []Candidate
	if len(filter.Languages) > 0 && len(filter.Ratings) > 0 {
		out = append(out, Candidate{Name: "cells", Cover: cells(filter.Languages, filter.Ratings)})
	}
	if len(filter.Ratings) > 0 {
		out = append(out, Candidate{Name: "ratings", Cover: byRating(filter.Languages, filter.Ratings)})
	}
	if len(filter.Languages) > 0 {
		out = append(out, Candidate{Name: "languages", Cover: byLanguage(filter.Languages, filter.Ratings)})
	}
	return append(out, Candidate{Name: "whole product", Cover: Cover{{
		Partition: layout.Partition{Index: layout.All}, Languages: filter.Languages, Ratings: filter.Ratings,
	}}})
}

func cells(languages []comment.Language, ratings []int) Cover {
	var cover Cover
	for _, language := range languages {
		for _, rating := range ratings {
			cover = append(cover, Part{Partition: layout.Partition{Index: layout.ByLangAndRating, Language: language, Rating: rating}})
		}
	}
	return cover
}

func byLanguage(languages []comment.Language, ratings []int) Cover {
	var cover Cover
	for _, language := range languages {
		cover = append(cover, Part{Partition: layout.Partition{Index: layout.ByLang, Language: language}, Ratings: ratings})
	}
	return cover
}

func byRating(languages []comment.Language, ratings []int) Cover {
	var cover Cover
	for _, rating := range ratings {
		cover = append(cover, Part{Partition: layout.Partition{Index: layout.ByRating, Rating: rating}, Languages: languages})
	}
	return cover
}

// mixture is the cheapest of those covers that read one rating across the languages, or none, and the rest of each language
// either as a whole or cell by cell. The filter has languages and ratings: without either there is nothing to mix.
func mixture(filter comment.Filter, price func(Cover) float64) Candidate {
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
			cover = append(cover, cheaper(price, byLanguage(one, rest), cells(one, rest))...)
		}
		if units := price(cover); len(cover) <= maxReads && (best.Cover == nil || units < best.Units) {
			best.Cover, best.Units = cover, units
		}
	}
	return best
}

// cheaper is the cheaper of two covers of the same, none if there is nothing to cover.
func cheaper(price func(Cover) float64, a, b Cover) Cover {
	if len(b) == 0 || price(b) <= price(a) {
		return b
	}
	return a
}

// narrowest is the first candidate of at most maxReads parts: without statistics, a read that can only return what is
// wanted is a better bet than one that may look at a whole product for a rare language. The whole product is one part.
func narrowest(candidates []Candidate) Candidate {
	return candidates[slices.IndexFunc(candidates, func(c Candidate) bool { return len(c.Cover) <= maxReads })]
}
