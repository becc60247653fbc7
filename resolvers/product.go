package resolvers

import (
	"cmp"
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

type productResolver struct{ *Resolver }

// Comments returns a page of the comments of the product.
func (r productResolver) Comments(
	ctx context.Context, product *comment.Product, _ *comment.Filter, _ *comment.Order,
	_ *int, after *string, _ *int, before *string, _ *bool, page *int,
) (*graph.CommentConnection, error) {
	field := lookahead.From(ctx)
	list := list{product: product.ID, filter: field.Page.Filter, order: field.Page.Order}
	query, err := list.query(field, after, before, page != nil)
	if err != nil {
		return nil, err
	}
	var read comment.Page
	switch beside := (newestFields{lookahead.NewestOf(lookahead.Beside(ctx))}); {
	case field.Page.OnlyCounts: // no page is read
	case field.Page.FromNewest && beside.Any(): // one page for all these fields
		read, err = r.readShared(ctx, beside.pageOf(product.ID, field))
	default:
		read, err = r.Resolver.Comments.Comments(ctx, query)
	}
	if err != nil {
		return nil, err
	}
	return connection(list, query.Slice, read, field.Page), nil
}

// query returns the query of a field that asks for a page of the list. It checks the size and the
// number, and reads the cursors.
func (l list) query(field *lookahead.Field, after, before *string, numbered bool) (query comment.Query, err error) {
	query = field.Page.Query
	query.Product, query.WithoutText = l.product, !field.WantsText
	slice := &query.Slice
	if err = field.Page.Refused; err != nil {
		return query, err
	}
	if slice.After, err = l.place("after", after); err != nil {
		return query, err
	}
	if slice.Before, err = l.place("before", before); err != nil {
		return query, err
	}
	if numbered {
		err = slice.CheckPage()
	} else {
		err = slice.Check(l.order)
	}
	if err == nil && query.SettledOnly {
		err = l.order.CheckSettled()
	}
	if err == nil && query.SettledOnly && numbered {
		err = comment.Errorf(comment.BadInput, "give either page or settledOnly, not both: follow new comments with after")
	}
	return query, err
}

// Stats returns how many comments the product has, in all languages or in one.
func (r productResolver) Stats(ctx context.Context, product *comment.Product, lang *comment.Language) (*comment.Statistics, error) {
	var filter comment.Filter
	if lang != nil {
		filter.Languages = []comment.Language{*lang}
	}
	return loaders.From(ctx).Statistics(ctx, product.ID, filter)
}

// Languages returns the languages of the product's comments that pass a filter.
func (r productResolver) Languages(ctx context.Context, product *comment.Product, filter *comment.Filter) ([]*comment.LanguageCount, error) {
	of, err := cmp.Or(filter, new(comment.Filter)).Normalize()
	if err != nil {
		return nil, err
	}
	if !of.Counted() {
		return nil, comment.Errorf(comment.BadInput, "languages are not counted by dates: leave out createdAfter and createdBefore")
	}
	stats, err := loaders.From(ctx).Stats(ctx, product.ID)
	if err != nil {
		return nil, err
	}
	return graph.Pointers(stats.Languages(of)), nil
}

// CommentsInOtherLanguages returns how many comments are in languages that Languages does not list.
func (r productResolver) CommentsInOtherLanguages(ctx context.Context, product *comment.Product) (*int, error) {
	stats, err := loaders.From(ctx).Stats(ctx, product.ID)
	if err != nil {
		return nil, err
	}
	total := stats[comment.OtherLanguages].Total()
	return &total, nil
}

// LastCommentedAt returns when the newest comment of the product was written.
func (r productResolver) LastCommentedAt(ctx context.Context, product *comment.Product) (*time.Time, error) {
	latest, err := r.latest(ctx, product, nil)
	if latest == nil || err != nil {
		return nil, err
	}
	return new(latest.CreatedAt()), nil
}

// LatestPositive returns the newest comment with 4 or 5 stars.
func (r productResolver) LatestPositive(ctx context.Context, product *comment.Product) (*comment.Comment, error) {
	return r.latest(ctx, product, lookahead.PositiveRatings)
}

// LatestNegative returns the newest comment with 1 or 2 stars.
func (r productResolver) LatestNegative(ctx context.Context, product *comment.Product) (*comment.Comment, error) {
	return r.latest(ctx, product, lookahead.NegativeRatings)
}

// MostHelpfulPositive returns the most helpful comment with 4 or 5 stars.
func (r productResolver) MostHelpfulPositive(ctx context.Context, product *comment.Product, orLatest bool) (*comment.Comment, error) {
	return r.mostHelpful(ctx, product, lookahead.PositiveRatings, orLatest)
}

// MostHelpfulCritical returns the most helpful comment with 1 or 2 stars.
func (r productResolver) MostHelpfulCritical(ctx context.Context, product *comment.Product, orLatest bool) (*comment.Comment, error) {
	return r.mostHelpful(ctx, product, lookahead.NegativeRatings, orLatest)
}

// ViewerComment returns the viewer's newest comment about the product.
func (r productResolver) ViewerComment(ctx context.Context, product *comment.Product) (*comment.Comment, error) {
	viewer := r.viewer(ctx)
	if viewer.CustomerID == nil {
		return nil, nil
	}
	return loaders.From(ctx).Own(ctx, *viewer.CustomerID, product.ID)
}
