package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// helpfulSample stands in a key for the fields that look at the most helpful comments of a product.
type helpfulSample struct{ text bool }

// mostHelpful returns the most helpful comment of a product with one of some ratings, nil if there is none.
// With orLatest it is then the newest one. Statistics say whether there is any, so a product without votes
// costs nothing more.
func (r *Resolver) mostHelpful(ctx context.Context, product *comment.Product, ratings []int, orLatest bool) (*comment.Comment, error) {
	stats, err := loaders.From(ctx).Stats(ctx, product.ID)
	if err != nil && !orLatest {
		return nil, err
	}
	voted := comment.Filter{Ratings: ratings, Helpful: new(true)}
	if stats.Counts(voted).Total() > 0 {
		if c, err := r.firstHelpful(ctx, product.ID, voted); c != nil || err != nil {
			return c, err
		}
	}
	if orLatest {
		return r.latest(ctx, product, ratings)
	}
	return nil, nil
}

// firstHelpful returns the most helpful comment that a filter allows. It looks at the first ones of the
// product, which several fields share, and then at those of the filter.
func (r *Resolver) firstHelpful(ctx context.Context, product string, filter comment.Filter) (*comment.Comment, error) {
	q := comment.Query{
		Product: product, Filter: comment.Filter{Helpful: filter.Helpful}, Order: comment.MostHelpful,
		Slice: comment.Slice{Size: lookahead.HelpfulSize}, WithoutText: !lookahead.From(ctx).WantsText, WithoutNeighbours: true,
	}
	page, err := r.readShared(ctx, newestPage{loaders.PageKey{Product: product, Field: helpfulSample{!q.WithoutText}}, q})
	if err != nil {
		return nil, err
	}
	if c, found := newestIn(q, page, filter.Ratings); found && c != nil || len(page.Comments) < q.Slice.Size {
		return c, nil
	}
	q.Filter, q.Slice.Size = filter, 1
	if page, err = r.Comments.Comments(ctx, q); err != nil || len(page.Comments) == 0 {
		return nil, err
	}
	return &page.Comments[0], nil
}
