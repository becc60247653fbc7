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

// query returns the query for a slice of the list.
func (l list) query(slice comment.Slice) comment.Query {
	return comment.Query{Product: l.product, Filter: l.filter, Order: l.order, Slice: slice}
}

// page reads the page that a field asks for, with texts if the field asks for these. If newest
// comments are asked for beside it, and it may have them, it is read once for all these fields.
func (r *Resolver) page(ctx context.Context, field *lookahead.Field, q comment.Query) (comment.Page, error) {
	if field.Page.FromNewest {
		if asked := (newestAsked{lookahead.NewestOf(lookahead.Beside(ctx))}); asked.Any() {
			return r.readShared(ctx, asked.pageOf(q.Product, field))
		}
	}
	q.WithoutText = !field.WantsText
	return r.Comments.Comments(ctx, q)
}

// readShared reads a page that several fields look at, once.
func (r *Resolver) readShared(ctx context.Context, page newestPage) (comment.Page, error) {
	return loaders.From(ctx).Page(ctx, page.key, func(ctx context.Context) (comment.Page, error) {
		return r.Comments.Comments(ctx, page.query)
	})
}
