package planner

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Part is a part of a cover: a partition, and which of its comments belong to the list.
type Part struct {
	layout.Partition
	// Languages and Ratings are the residual filter: what the table returns of a partition that
	// also holds other comments; nil for all.
	Languages []comment.Language
	Ratings   []int
}

// Residual tells whether the part has a residual filter.
func (p Part) Residual() bool { return p.Languages != nil || p.Ratings != nil }

// equal tells whether two parts are the same.
func (p *Part) equal(other *Part) bool {
	return p.Partition == other.Partition && slices.Equal(p.Languages, other.Languages) && slices.Equal(p.Ratings, other.Ratings)
}

// Holds tells whether the comments of a cell are in the part.
func (p *Part) Holds(cell comment.Cell) bool {
	return (p.Rating == 0 || p.Rating == cell.Rating) && (p.Language == "" || p.Language == cell.Language) &&
		(p.Languages == nil || slices.Contains(p.Languages, cell.Language)) &&
		(p.Ratings == nil || slices.Contains(p.Ratings, cell.Rating))
}

// wanted is the filter that allows what is in the part.
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

// Cover is a set of parts that together hold each comment that a filter allows exactly once, and no
// others.
type Cover []Part

// Candidate is a cover that a planner may choose.
type Candidate struct {
	// Name is the kind of the cover: "whole product", "ratings", "languages", "cells" or "mixture".
	Name string
	// Cover is what is read.
	Cover Cover
	// Units is what the first wave of reads is expected to cost in read units, 0 if that is not
	// known.
	Units float64
	// Price is what candidates are compared by: Units, and the prices of further calls and of an
	// expected further wave.
	Price float64
}

// covers are the covers of a normalized filter that use one index each. They are in the order of
// how many other comments their partitions hold, fewest first. The last is the whole product.
func covers(filter comment.Filter) []Candidate { return coversWithin(filter, math.MaxInt) }

// coversWithin are those of the covers that read at most so many partitions.
func coversWithin(filter comment.Filter, most int) []Candidate {
	languages, ratings := filter.Languages, filter.Ratings
	room := 1
	if len(languages)+len(ratings) > 0 {
		room = 5 // with one mixture
	}
	out, cells := make([]Candidate, 0, room), len(languages)*len(ratings)
	if cells > most {
		cells = 0
	}
	parts := make(Cover, 0, cells+len(languages)+len(ratings)+1) // of all: one allocation
	add := func(name string, from int) {
		out = append(out, Candidate{Name: name, Cover: parts[from:len(parts):len(parts)]})
	}
	if cells > 0 {
		parts = addCells(parts, languages, ratings)
		add("cells", 0)
	}
	if from := len(parts); len(ratings) > 0 {
		for _, rating := range ratings {
			parts = append(parts, ratingPart(languages, rating))
		}
		add("ratings", from)
	}
	if from := len(parts); len(languages) > 0 && len(languages) <= most {
		for _, language := range languages {
			parts = append(parts, languagePart(language, ratings))
		}
		add("languages", from)
	}
	parts = append(parts, Part{Partition: layout.Partition{Index: layout.All}, Languages: languages, Ratings: ratings})
	add("whole product", len(parts)-1)
	return out
}

// mostExpected is for how many parts that differ room is made at once, at most.
const mostExpected = 8

// expectedParts returns for how many parts of some covers room is made at once. Mixtures have others
// of each language.
func expectedParts(covers []Candidate, filter comment.Filter) int {
	parts := len(filter.Languages) * len(filter.Ratings)
	for i := range covers {
		parts += len(covers[i].Cover)
	}
	return min(parts, mostExpected)
}

// narrowParts is how many parts the first of the covers has.
func narrowParts(filter comment.Filter) int {
	return max(1, len(filter.Languages)) * max(1, len(filter.Ratings))
}

// addCells adds the cells of some languages and ratings to a cover.
func addCells(cover Cover, languages []comment.Language, ratings []int) Cover {
	for _, language := range languages {
		for _, rating := range ratings {
			cover = append(cover, Part{Partition: layout.Partition{
				Index: layout.ByLangAndRating, Language: language, Rating: rating,
			}})
		}
	}
	return cover
}

// languagePart is what a language has of some ratings, ratingPart what a rating has of some languages.
func languagePart(language comment.Language, ratings []int) Part {
	return Part{Partition: layout.Partition{Index: layout.ByLang, Language: language}, Ratings: ratings}
}

func ratingPart(languages []comment.Language, rating int) Part {
	return Part{Partition: layout.Partition{Index: layout.ByRating, Rating: rating}, Languages: languages}
}

// narrowest is the first candidate of at most maxReads partitions, of candidates in the order of
// covers. A count scans all that it reads, so it reads as little else as it can. The whole product is
// one partition, so there always is one.
func narrowest(candidates []Candidate) Candidate {
	return candidates[slices.IndexFunc(candidates, func(c Candidate) bool { return len(c.Cover) <= maxReads })]
}
