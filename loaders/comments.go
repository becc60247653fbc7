package loaders

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// CommentGetter fetches comments by their ids, all different and at most 100, with their texts or without. Those that do not
// exist are missing from the answer, those that could not be fetched are among the failed.
type CommentGetter interface {
	CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error)
}

// Comment is the comment of an id, nil when there is none. Comments asked for within a millisecond are fetched together, those
// without texts beside the others. A failure is not remembered: whoever asks again makes a new attempt.
func (l *Loaders) Comment(ctx context.Context, id comment.ID, withoutText bool) (*comment.Comment, error) {
	return l.commentLoader(withoutText).load(ctx, id)
}

// CommentAlone is the comment of an id, nil when there is none, for whoever knows that no other comment will be asked for
// at the same time: it is fetched without waiting for any.
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

// commentsBy is what a loader of comments asks.
func commentsBy(comments CommentGetter, withoutText bool) get[comment.ID, comment.Comment] {
	return func(ctx context.Context, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
		return comments.CommentsByID(ctx, ids, withoutText)
	}
}
