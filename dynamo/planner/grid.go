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

// held are the counts of all that is in a partition.
func (g *grid) held(p *layout.Partition) comment.Counts {
	counts := g.all
	if p.Language != "" {
		counts = g.row(p.Language)
	}
	return inPartition(counts, p)
}

// wanted are the counts of what a part returns. The languages of a residual filter are those of the
// list.
func (g *grid) wanted(part *Part) comment.Counts {
	counts := g.held(&part.Partition)
	if len(part.Languages) > 0 {
		counts = inPartition(g.named, &part.Partition)
	}
	if len(part.Ratings) == 0 {
		return counts
	}
	var some comment.Counts
	for _, rating := range part.Ratings {
		some[rating-1] = counts[rating-1]
	}
	return some
}

// row are the counts of a language of the list.
func (g *grid) row(language comment.Language) comment.Counts {
	for i := range g.rows {
		if g.rows[i].language == language {
			return g.rows[i].counts
		}
	}
	return comment.Counts{}
}

// inPartition are the counts of the ratings that a partition holds.
func inPartition(counts comment.Counts, p *layout.Partition) comment.Counts {
	if p.Rating == 0 {
		return counts
	}
	var one comment.Counts
	one[p.Rating-1] = counts[p.Rating-1]
	return one
}
