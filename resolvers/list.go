package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// list is a whole list of comments, to which cursors belong.
type list struct {
	product string
	filter  comment.Filter // normalized
	order   comment.Order
}

// query returns the query of a field that asks for a page of the list.
func (l list) query(field *lookahead.Field, after, before *string, settledOnly *bool, page *int) (comment.Query, error) {
	asked := field.Page
	if asked.Refused != nil {
		return comment.Query{}, asked.Refused
	}
	slice, err := l.slice(asked, after, before, page)
	if err != nil {
		return comment.Query{}, err
	}
	settled := settledOnly != nil && *settledOnly
	if settled && page != nil {
		return comment.Query{}, comment.Errorf(comment.BadInput, "give either page or settledOnly, not both: follow new comments with after")
	}
	return comment.Query{
		Product: l.product, Filter: l.filter, Order: l.order, Slice: slice, SettledOnly: settled,
		Count: asked.Count, Numbering: asked.Numbering, WithoutText: !field.WantsText,
	}, nil
}

// readShared reads a page that several fields look at, once.
func (r *Resolver) readShared(ctx context.Context, page newestPage) (comment.Page, error) {
	return loaders.From(ctx).Page(ctx, page.key, func(ctx context.Context) (comment.Page, error) {
		return r.Comments.Comments(ctx, page.query)
	})
}
