package loaders

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// CommentGetter fetches comments by their ids, all different and at most 100. Those that do not exist are missing from
// the answer, those that could not be fetched are among the failed.
type CommentGetter interface {
	CommentsByID(ctx context.Context, ids []comment.ID) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error)
}

// Comment is the comment of an id, nil when there is none. Comments asked for within a millisecond are fetched together.
// A failure is not remembered: whoever asks again makes a new attempt.
func (l *Loaders) Comment(ctx context.Context, id comment.ID) (*comment.Comment, error) {
	return l.comments.load(ctx, id)
}

// CommentAlone is the comment of an id, nil when there is none, for whoever knows that no other comment will be asked for
// at the same time: it is fetched without waiting for any.
func (l *Loaders) CommentAlone(ctx context.Context, id comment.ID) (*comment.Comment, error) {
	l.comments.note(ctx, []comment.ID{id})
	return l.comments.load(ctx, id)
}
