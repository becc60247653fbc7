package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// grid are the counts of a product as the covers of one list need them. An estimate looks at dozens
// of parts, and statistics are a map.
type grid struct {
	all   comment.Counts // of any language
	named comment.Counts // of the languages of the list, at most
	rows  []gridRow      // of each of these languages, at most
}

type gridRow struct {
	language comment.Language
	counts   comment.Counts
}

// gridOf is the grid of some statistics for a list in some languages. All of those that share a row
// of the statistics may have each of its comments.
func gridOf(stats comment.Stats, languages []comment.Language) (g grid) {
	shared := stats[comment.OtherLanguages]
	sharing := false
	g.rows = make([]gridRow, 0, len(languages))
	for _, language := range languages {
		counts, own := stats[language]
		if g.add(language, counts); !own {
			g.rows[len(g.rows)-1].counts, sharing = shared, true
		}
	}
	if sharing {
		g.named = plus(g.named, shared)
	}
	g.all = stats.Counts(comment.Filter{})
	return g
}

// add adds a language of the list.
func (g *grid) add(language comment.Language, counts comment.Counts) {
	g.rows = append(g.rows, gridRow{language, counts})
	g.named, g.all = plus(g.named, counts), plus(g.all, counts)
}

func plus(a, b comment.Counts) comment.Counts {
	for i, n := range b {
		a[i] += n
	}
	return a
}

// held is how many comments a partition holds.
func (g *grid) held(p *layout.Partition) int {
	counts := g.row(p.Language)
	if p.Rating != 0 {
		return counts[p.Rating-1]
	}
	return counts.Total()
}

// wanted is how many comments a part returns, and whether it returns none of any rating: damaged
// counts below zero may make up for others. The languages of a residual filter are those of the
// list, and a partition of one rating has no residual filter of ratings.
func (g *grid) wanted(part *Part) (total int, none bool) {
	counts := &g.named
	if comment.ValuesOf(part.Conditions, comment.OfLanguage) == nil {
		counts = g.row(part.Language)
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

// row are the counts of a language of the list, or of any if it is empty.
func (g *grid) row(language comment.Language) *comment.Counts {
	if language == "" {
		return &g.all
	}
	for i := range g.rows {
		if g.rows[i].language == language {
			return &g.rows[i].counts
		}
	}
	return &comment.Counts{}
}
