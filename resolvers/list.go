package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/loaders"
)

// list is a whole list of comments, to which cursors belong.
type list struct {
	product string
	filter  comment.Filter // normalized
	order   comment.Order
}

// readShared reads a page that several fields look at, once.
func (r *Resolver) readShared(ctx context.Context, page newestPage) (comment.Page, error) {
	return loaders.From(ctx).Page(ctx, page.key, func(ctx context.Context) (comment.Page, error) {
		return r.Comments.Comments(ctx, page.query)
	})
}
