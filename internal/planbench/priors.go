package planbench

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/dynamo/prior"
)

// halfPriors are what is learnt from every other product, from the first on and from the second on.
// They are nil if there are less than two products.
func halfPriors(ctx context.Context, products [][]comment.Comment) (priors [2]*planner.Prior, err error) {
	if len(products) < 2 {
		return priors, nil
	}
	learners, next := [...]*prior.Learner{prior.NewLearner(), prior.NewLearner()}, 0
	err = inOrder(ctx, products, func(_ int, comments []comment.Comment) (*Product, error) {
		return NewProduct(ctx, comments)
	}, func(p *Product) {
		learners[next%2].See(p.id, p.seen())
		next++
	})
	for i, learner := range learners {
		priors[i] = learner.Prior()
	}
	return priors, err
}

// hinted is the product as a process knows it that starts with what earlier ones saved, after they
// had read the product's statistics.
func (p *Product) hinted() *Product {
	hinted := *p
	hinted.saved = prior.NewLearner()
	hinted.saved.Count(p.id, p.stats)
	return &hinted
}

// likely returns what a process knows of the product for a list that was just started.
func (p *Product) likely(filter comment.Filter) planner.Known {
	known := planner.Known{Prior: p.prior}
	if p.saved != nil {
		known.Hint = p.saved.Hint(p.id, filter.Languages...)
	}
	return known
}

// seen is what a Store has seen of a product of which it has read all.
func (p *Product) seen() prior.Seen {
	seen := prior.Seen{Count: len(p.comments), Ended: true, Ratings: p.stats.Counts(comment.Filter{}), Languages: map[comment.Language]int{}}
	for language, counts := range p.stats {
		seen.Languages[language] = counts.Total()
	}
	seen.Sizes[0] = seenSize(p.table.partition(layout.Partition{Index: layout.All}, p.id))
	for rating := 1; rating <= comment.MaxRating; rating++ {
		seen.Sizes[rating] = seenSize(p.table.partition(layout.Partition{Index: layout.ByRating, Rating: rating}, p.id))
	}
	return seen
}

func seenSize(entries []entry) prior.Size {
	size := prior.Size{Count: float64(len(entries))}
	for _, e := range entries {
		size.Sum += float64(e.bytes)
		size.Squares += float64(e.bytes) * float64(e.bytes)
	}
	return size
}
