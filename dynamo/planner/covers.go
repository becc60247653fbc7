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
	// Conditions are the residual filter, by which the table drops comments of the partition that
	// are not in the list. It is empty if the partition holds only comments of the list.
	Conditions []comment.Condition
}

// Residual reports whether the part has a residual filter.
func (p Part) Residual() bool { return len(p.Conditions) > 0 }

// Unvoted reports whether the residual filter drops comments with helpful votes and no others.
func (p Part) Unvoted() bool {
	return len(p.Conditions) == 1 && p.Conditions[0].Attribute == comment.OfVotes
}

// equal reports whether two parts are equal.
func (p *Part) equal(other *Part) bool {
	return p.Partition == other.Partition && slices.EqualFunc(p.Conditions, other.Conditions, func(a, b comment.Condition) bool {
		return a.Attribute == b.Attribute && slices.Equal(a.Values, b.Values)
	})
}

// Holds reports whether comments of the list in a cell can be in the part. Of traits it checks only
// helpful votes: all parts of a cover have the list's other conditions on traits.
func (p *Part) Holds(cell comment.Cell) bool {
	if p.Index == layout.ByHelpful && cell.Traits&comment.IsHelpful == 0 {
		return false
	}
	if p.Rating != 0 && p.Rating != cell.Rating || p.Language != "" && p.Language != cell.Language {
		return false
	}
	for i := range p.Conditions {
		if trait := p.Conditions[i].Attribute.Trait(); (trait == 0 || trait == comment.IsHelpful) && !p.Conditions[i].AllowsCell(cell) {
			return false
		}
	}
	return true
}

// wanted returns the filter that allows those comments of the list that are in the part.
func (p *Part) wanted(list comment.Filter) comment.Filter {
	if p.Index.SplitsByLanguage() {
		list.Languages = []comment.Language{p.Language}
	}
	if p.Index.SplitsByRating() {
		list.Ratings = []int{p.Rating}
	} else if values := comment.ValuesOf(p.Conditions, comment.OfRating); len(values) < len(list.Ratings) { // of a mixture
		list.Ratings = make([]int, len(values))
		for i, value := range values {
			list.Ratings[i] = value.Number
		}
	}
	return list
}

// Cover is a set of parts that together hold each comment that a filter allows exactly once, and no
// others.
type Cover []Part

// Candidate is a cover that a planner may choose.
type Candidate struct {
	// Name is the kind of the cover: "whole product", "media", "helpful", "ratings", "languages",
	// "cells" or "mixture".
	Name  string
	Cover Cover
	// Units is the expected cost of the first wave of reads in read units; 0 if unknown.
	Units float64
	// Price is what candidates are compared by: Units plus the prices of further calls and of an
	// expected further wave.
	Price float64
}

// covers returns the covers of a normalized filter that use one index each. They are sorted by how
// many other comments their partitions hold, fewest first. The last is the whole product. A list of
// comments with helpful votes has one cover: it is read by votes, from the only partition in that
// order.
func covers(filter comment.Filter) []Candidate { return coversWithin(filter, math.MaxInt) }

// coversWithin returns the covers that read at most the given number of partitions.
func coversWithin(filter comment.Filter, most int) []Candidate {
	if ofHelpful(filter) {
		return []Candidate{{Name: "helpful", Cover: Cover{helpfulPart(filter)}}}
	}
	languages, ratings, list := filter.Languages, filter.Ratings, newSplitting(filter)
	var out []Candidate
	add := func(name string, cover Cover) {
		if len(cover) > 0 {
			out = append(out, Candidate{Name: name, Cover: cover})
		}
	}
	if len(languages)*len(ratings) <= most {
		add("cells", list.addCells(nil, languages, ratings))
	}
	var byRating, byLanguage Cover
	for _, rating := range ratings {
		byRating = append(byRating, list.rating(rating))
	}
	for _, language := range languages {
		byLanguage = append(byLanguage, list.language(language))
	}
	add("ratings", byRating)
	if len(languages) <= most {
		add("languages", byLanguage)
	}
	if filter.WithMedia != nil && *filter.WithMedia {
		add("media", Cover{{Partition: layout.Partition{Index: layout.ByMedia}, Conditions: without(comment.OfMedia, filter.Conditions())}})
	}
	add("whole product", Cover{wholeProduct(filter)})
	return out
}

// ofHelpful reports whether a list has comments with helpful votes only.
func ofHelpful(filter comment.Filter) bool { return filter.Helpful != nil && *filter.Helpful }

// helpfulPart returns the part with a list of comments with helpful votes. Its sort keys have no
// dates, so dates are in the residual filter.
func helpfulPart(filter comment.Filter) Part {
	part := Part{Partition: layout.Partition{Index: layout.ByHelpful}, Conditions: without(comment.OfVotes, filter.Conditions())}
	if filter.Dated() {
		low, high := filter.Range()
		part.Conditions = append(part.Conditions, comment.Condition{Attribute: comment.OfDates, Values: []comment.Value{{Text: low.String()}, {Text: high.String()}}})
	}
	return part
}

// alone reports whether one partition holds a list and nothing else.
func alone(filter comment.Filter) bool {
	if ofHelpful(filter) {
		part := helpfulPart(filter)
		return !part.Residual()
	}
	return narrowParts(filter) == 1 && !filter.MayMatchFew()
}

// narrowParts returns how many parts the first of the covers has.
func narrowParts(filter comment.Filter) int {
	return max(1, len(filter.Languages)) * max(1, len(filter.Ratings))
}

// wholeProduct returns the part that reads a list from the partition of all comments.
func wholeProduct(filter comment.Filter) Part {
	return Part{Partition: layout.Partition{Index: layout.All}, Conditions: filter.Conditions()}
}

// splitting makes the parts of a list. It holds their residual filters: the conditions of the list
// without those that all comments of a partition meet.
type splitting struct{ ofLanguage, ofRating, ofCell []comment.Condition }

func newSplitting(filter comment.Filter) splitting {
	whole := filter.Conditions()
	s := splitting{ofLanguage: without(comment.OfLanguage, whole), ofRating: without(comment.OfRating, whole)}
	s.ofCell = without(comment.OfRating, s.ofLanguage)
	return s
}

// without returns the conditions except those on one attribute.
func without(attribute comment.Attribute, conditions []comment.Condition) []comment.Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(c comment.Condition) bool { return c.Attribute == attribute })
}

// language returns the part of the list in a language, and rating that with a rating.
func (s *splitting) language(language comment.Language) Part {
	return Part{Partition: layout.Partition{Index: layout.ByLang, Language: language}, Conditions: s.ofLanguage}
}

func (s *splitting) rating(rating int) Part {
	return Part{Partition: layout.Partition{Index: layout.ByRating, Rating: rating}, Conditions: s.ofRating}
}

// addCells adds the cells of some languages and ratings to a cover.
func (s *splitting) addCells(cover Cover, languages []comment.Language, ratings []int) Cover {
	for _, language := range languages {
		for _, rating := range ratings {
			cell := layout.Partition{Index: layout.ByLangAndRating, Language: language, Rating: rating}
			cover = append(cover, Part{Partition: cell, Conditions: s.ofCell})
		}
	}
	return cover
}

// grid holds the counts of a product that the covers of one list need. It is quicker than the map
// of statistics: an estimate reads the counts of dozens of parts.
type grid struct {
	all     tally     // counts of all languages together
	media   int       // comments with pictures or videos, if the list is restricted to these
	helpful int       // comments with helpful votes, if the list is restricted to these
	named   tally     // counts of the list's languages together, or upper bounds
	rows    []gridRow // counts of each of the list's languages, or upper bounds
}

// tally has counts by rating: of all comments, and of those whose traits the list allows.
type tally struct{ held, listed comment.Counts }

type gridRow struct {
	language comment.Language
	counts   tally
}

func tallyOf(row comment.Row, list comment.Filter) tally {
	return tally{held: row.Counts, listed: row.Allowed(list)}
}

// gridOf returns the grid of statistics for a list. Languages that share a row of the statistics
// each get all counts of the row.
func gridOf(stats comment.Stats, list comment.Filter) (g grid) {
	shared := tallyOf(stats[comment.OtherLanguages], list)
	sharing := false
	g.rows = make([]gridRow, 0, len(list.Languages))
	for _, language := range list.Languages {
		row, own := stats[language]
		if g.add(language, tallyOf(row, list)); !own {
			g.rows[len(g.rows)-1].counts, sharing = shared, true
		}
	}
	if sharing {
		g.named = g.named.plus(shared)
	}
	any := list
	any.Languages, any.Ratings = nil, nil
	if list.WithMedia != nil && *list.WithMedia {
		g.media = stats.Counts(comment.Filter{WithMedia: list.WithMedia}).Total()
	}
	if ofHelpful(list) {
		g.helpful = stats.Counts(comment.Filter{Helpful: list.Helpful}).Total()
	}
	g.all = tally{held: stats.Counts(comment.Filter{}), listed: stats.Counts(any)}
	return g
}

func (g *grid) add(language comment.Language, counts tally) {
	g.rows = append(g.rows, gridRow{language, counts})
	g.named, g.all = g.named.plus(counts), g.all.plus(counts)
}

func (t tally) plus(other tally) tally {
	return tally{held: t.held.Plus(other.held), listed: t.listed.Plus(other.listed)}
}

// held returns how many comments the partition holds.
func (g *grid) held(p *layout.Partition) int {
	switch p.Index {
	case layout.ByMedia:
		return g.media
	case layout.ByHelpful:
		return g.helpful
	}
	counts := &g.row(p.Language).held
	if p.Rating != 0 {
		return counts[p.Rating-1]
	}
	return counts.Total()
}

// wanted returns how many comments a part returns, and whether the counts of all its ratings are
// zero. A total of zero does not imply that: damaged counts may be below zero. The languages of a
// residual filter are those of the list, and a partition of one rating has no residual filter of
// ratings.
func (g *grid) wanted(part *Part) (total int, none bool) {
	counts := &g.named.listed
	if comment.ValuesOf(part.Conditions, comment.OfLanguage) == nil {
		counts = &g.row(part.Language).listed
	}
	ratings := comment.ValuesOf(part.Conditions, comment.OfRating)
	switch {
	case part.Rating != 0:
		total = counts[part.Rating-1]
		return total, total == 0
	case ratings == nil:
		return counts.Total(), *counts == comment.Counts{}
	}
	none = true
	for _, rating := range ratings {
		n := counts[rating.Number-1]
		total, none = total+n, none && n == 0
	}
	return total, none
}

// row returns the counts of a language of the list, or of any if it is empty.
func (g *grid) row(language comment.Language) *tally {
	if language == "" {
		return &g.all
	}
	for i := range g.rows {
		if g.rows[i].language == language {
			return &g.rows[i].counts
		}
	}
	return &tally{}
}
