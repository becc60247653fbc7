package loaders

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// Comment returns the comment of an id, nil if there is none. Comments asked for within a
// millisecond are fetched together, those without texts separately. A failure is not kept: the next
// call makes a new attempt.
func (l *Loaders) Comment(ctx context.Context, id comment.ID, withoutText bool) (*comment.Comment, error) {
	return l.commentLoader(withoutText).load(ctx, id)
}

// CommentAlone returns the comment of an id, nil if there is none, without waiting for others. It
// is for a caller that knows that no other comment is asked for at the same time.
func (l *Loaders) CommentAlone(ctx context.Context, id comment.ID, withoutText bool) (*comment.Comment, error) {
	loader := l.commentLoader(withoutText)
	loader.note(ctx, []comment.ID{id})
	return loader.load(ctx, id)
}

// Page returns a page that is read once for all fields that look at it: by the first, in its own
// goroutine. What read returns for a key must not depend on the field. The page is shared, so do not
// change it.
func (l *Loaders) Page(ctx context.Context, key PageKey, read func(context.Context) (comment.Page, error)) (comment.Page, error) {
	return l.pages.get(ctx, key, read)
}
