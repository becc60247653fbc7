package resolvers

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// latest returns the newest comment with one of some ratings, of all if ratings is nil; nil if there
// is none. It looks in the page that is read anyway, then at what statistics tell, and then in the
// index.
func (r *Resolver) latest(ctx context.Context, product *comment.Product, ratings []int) (*comment.Comment, error) {
	asked := newestFields{lookahead.NewestOf(lookahead.Beside(ctx))}
	if c, certain := r.inPage(ctx, asked, product.ID, ratings); certain {
		return c, nil
	}
	if told := r.newestOfStats(ctx, asked, product.ID, ratings); told.Known {
		return told.Comment, nil
	}
	page, err := r.Comments.Comments(ctx, comment.Query{
		Product: product.ID, Filter: comment.Filter{Ratings: ratings}, Order: comment.NewestFirst,
		Slice: comment.Slice{Size: 1}, WithoutNeighbours: true, WithoutText: !lookahead.From(ctx).WantsText,
	})
	if err != nil || len(page.Comments) == 0 {
		return nil, err
	}
	return &page.Comments[0], nil
}

// inPage looks for a newest comment in the page that the fields share. It is not certain of any if
// there is no page, or if it failed: the field then reads for itself.
func (r *Resolver) inPage(ctx context.Context, asked newestFields, product string, ratings []int) (c *comment.Comment, certain bool) {
	source, any := asked.page(product, ratings)
	if !any {
		return nil, false
	}
	page, err := r.readShared(ctx, source)
	if err != nil {
		return nil, false
	}
	return newestIn(source.query, page, ratings)
}

// newestOfStats returns a newest comment that no page showed, as far as statistics know it. All
// such comments of the product are fetched together.
func (r *Resolver) newestOfStats(ctx context.Context, asked newestFields, product string, ratings []int) loaders.NewestComment {
	want := asked.wanted(product)
	want.Ratings = slices.DeleteFunc(want.Ratings, func(other []int) bool {
		_, certain := r.inPage(ctx, asked, product, other)
		return certain
	})
	at := slices.IndexFunc(want.Ratings, func(other []int) bool { return slices.Equal(other, ratings) })
	if at < 0 { // the newest of all is in no other place than the page
		return loaders.NewestComment{}
	}
	return loaders.From(ctx).Newest(ctx, product, want)[at]
}
