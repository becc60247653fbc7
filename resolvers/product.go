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
	_ *int, after *string, _ *int, before *string, settledOnly *bool, page *int,
) (*graph.CommentConnection, error) {
	field := lookahead.From(ctx)
	list := list{product: product.ID, filter: field.Page.Filter, order: field.Page.Order}
	query, err := list.query(field, after, before, settledOnly, page)
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

// query returns the query of a field that asks for a page of the list. It checks the size and the number,
// and reads the cursors.
func (l list) query(field *lookahead.Field, after, before *string, settledOnly *bool, page *int) (comment.Query, error) {
	asked := field.Page
	if asked.Refused != nil {
		return comment.Query{}, asked.Refused
	}
	if asked.BothEnds {
		return comment.Query{}, comment.Errorf(comment.BadInput, "give either first or last, not both: first pages forwards, last backwards")
	}
	var err error
	slice := comment.Slice{Size: asked.Size, FromEnd: asked.FromEnd}
	if slice.After, err = l.place("after", after); err != nil {
		return comment.Query{}, err
	}
	if slice.Before, err = l.place("before", before); err != nil {
		return comment.Query{}, err
	}
	if page == nil {
		err = slice.Check(l.order)
	} else {
		slice.Page = *page
		err = slice.CheckPage()
	}
	settled := settledOnly != nil && *settledOnly
	if err == nil && settled {
		err = l.order.CheckSettled()
	}
	if err == nil && settled && page != nil {
		err = comment.Errorf(comment.BadInput, "give either page or settledOnly, not both: follow new comments with after")
	}
	if err != nil {
		return comment.Query{}, err
	}
	return comment.Query{
		Product: l.product, Filter: l.filter, Order: l.order, Slice: slice, SettledOnly: settled,
		Count: asked.Count, Numbering: asked.Numbering, WithoutText: !field.WantsText,
	}, nil
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
