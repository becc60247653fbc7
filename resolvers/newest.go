package resolvers

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// sample is the PageKey.Field of the sample of newest comments, which no field of the operation
// asks for.
type sample struct{ text bool }

// newestFields are the fields of one product that select its newest comments.
type newestFields struct{ lookahead.Newest }

// newestPage is a page of the newest comments of a product.
type newestPage struct {
	key   loaders.PageKey
	query comment.Query
}

// page returns the page that may have the newest comment with one of some ratings, false if there
// is none.
func (a newestFields) page(product string, ratings []int) (newestPage, bool) {
	if field := a.Page(ratings); field != nil {
		return a.pageOf(product, field), true
	}
	if !a.Sampled() {
		return newestPage{}, false
	}
	query := comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: lookahead.SampleSize}, WithoutText: !a.Text}
	return newestPage{key: loaders.PageKey{Product: product, Field: sample{a.Text}}, query: query}, true
}

// pageOf returns the page that a field asks for, as its resolver reads it.
func (a newestFields) pageOf(product string, field *lookahead.Field) newestPage {
	query := field.Page.Query
	query.Product, query.WithoutText = product, !field.WantsText && !a.Text
	return newestPage{key: loaders.PageKey{Product: product, Field: field}, query: query}
}

// newestIn returns the newest comment with one of some ratings in a page of the newest, nil if
// there is none. certain is false if it was not found and the page does not end with the oldest
// comment of its list.
func newestIn(q comment.Query, page comment.Page, ratings []int) (c *comment.Comment, certain bool) {
	older := page.HasNext
	if q.Slice.FromEnd {
		older = page.HasPrevious
	}
	filter := comment.Filter{Ratings: ratings}
	for i := range page.Comments {
		at := i
		if q.Slice.FromEnd {
			at = len(page.Comments) - 1 - i
		}
		if c := &page.Comments[at]; filter.Allows(*c) {
			return c, true
		}
	}
	return nil, !older
}

// wantLatest tells the loaders which newest comments are asked for anywhere below a field.
func wantLatest(to *loaders.Loaders, below *lookahead.Field) {
	if !below.WantsLatest {
		return
	}
	if asked := (newestFields{lookahead.NewestOf(below.Fields)}); len(asked.Rated) > 0 {
		to.WantLatest(asked.wanted(""))
	}
	for i := range below.Fields {
		wantLatest(to, &below.Fields[i])
	}
}

// wanted returns the newest comments that may have to come from the statistics.
func (a newestFields) wanted(product string) comment.Latest {
	want := comment.Latest{Ratings: slices.Clone(a.Rated), WithoutText: !a.Text}
	for _, ratings := range a.Rated {
		if source, any := a.page(product, ratings); any {
			want.Among = max(want.Among, source.query.Slice.Size)
		}
	}
	return want
}

// readShared reads a page once for all fields that share it.
func (r *Resolver) readShared(ctx context.Context, page newestPage) (comment.Page, error) {
	return loaders.From(ctx).Page(ctx, page.key, func(ctx context.Context) (comment.Page, error) {
		return r.Comments.Comments(ctx, page.query)
	})
}

// latest returns the newest comment with one of some ratings, or with any rating if ratings is nil;
// nil if there is none. It looks in a page that is read anyway, then in the statistics, and then in
// the index.
func (r *Resolver) latest(ctx context.Context, product *comment.Product, ratings []int) (*comment.Comment, error) {
	asked := newestFields{lookahead.NewestOf(lookahead.Beside(ctx))}
	if c, certain := r.inPage(ctx, asked, product.ID, ratings); certain {
		return c, nil
	}
	// Comments that no page shows are fetched together, as far as the statistics tell their ids.
	want := asked.wanted(product.ID)
	want.Ratings = slices.DeleteFunc(want.Ratings, func(other []int) bool {
		_, certain := r.inPage(ctx, asked, product.ID, other)
		return certain
	})
	at := slices.IndexFunc(want.Ratings, func(other []int) bool { return slices.Equal(other, ratings) })
	if at >= 0 { // statistics do not tell the newest comment of any rating
		if newest := loaders.From(ctx).Newest(ctx, product.ID, want)[at]; newest.Known {
			return newest.Comment, nil
		}
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

// inPage looks for a newest comment in the page that the fields share. certain is false if there is
// no page, or reading it failed. The field then reads on its own.
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

// helpfulSample is the PageKey.Field of the page of a product's most helpful comments.
type helpfulSample struct{ text bool }

// mostHelpful returns the most helpful comment of a product with one of some ratings, nil if there
// is none. With orLatest, it returns the newest one instead of nil. Statistics say whether there is
// any, so a product without votes costs nothing more.
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

// firstHelpful returns the most helpful comment that a filter allows. It looks among the first ones
// of the product, a page that several fields share, and then reads the list of the filter.
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
