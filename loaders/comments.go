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

func (l *Loaders) commentLoader(withoutText bool) *loader[comment.ID, comment.Comment] {
	if withoutText {
		return l.textless
	}
	return l.comments
}
