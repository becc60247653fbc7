// Package loaders gathers what many fields of one request ask for into few calls.
package loaders

import (
	"context"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"github.com/talkback/talkback/comment"
)

const (
	// wait is how long a batch waits for more keys. Fields of one level ask within microseconds of each other.
	wait = time.Millisecond
	// batchCapacity is what one BatchGetItem takes.
	batchCapacity = 100
	// batchTimeout bounds a batch, which outlives the request that began it: see fetchContext.
	batchTimeout = 10 * time.Second
)

// CommentGetter fetches comments by their ids, all different and at most 100. Those that do not exist are missing from
// the answer, those that could not be fetched are among the failed.
type CommentGetter interface {
	CommentsByID(ctx context.Context, ids []comment.ID) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error)
}

// Loaders are the loaders of one request. They are never shared between requests: a batch answers from one moment, and
// what it found is remembered.
type Loaders struct {
	comments *dataloader.Loader[comment.ID, *comment.Comment]
}

// New makes the loaders of one request.
func New(getter CommentGetter) *Loaders {
	return &Loaders{comments: dataloader.NewBatchedLoader(
		commentBatch(getter),
		dataloader.WithWait[comment.ID, *comment.Comment](wait),
		dataloader.WithBatchCapacity[comment.ID, *comment.Comment](batchCapacity),
	)}
}

type contextKey struct{}

// With puts the loaders of a request into its context.
func With(ctx context.Context, l *Loaders) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From takes the loaders out of the context of a request. A context without any is a mistake of ours and panics.
func From(ctx context.Context) *Loaders {
	l, ok := ctx.Value(contextKey{}).(*Loaders)
	if !ok {
		panic("loaders: the context has none; every request passes through loaders.With")
	}
	return l
}

// fetchContext is the context of a batch. The library hands over that of the first caller, whose end must not fail the
// keys of the others.
func fetchContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
}
