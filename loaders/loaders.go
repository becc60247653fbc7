// Package loaders gathers what many fields of one request ask for into few calls.
package loaders

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

const (
	// wait is how long a batch waits for more keys. Fields of one level ask within microseconds of each other.
	wait = time.Millisecond
	// batchCapacity is what one BatchGetItem takes.
	batchCapacity = 100
	// batchTimeout bounds a batch, which outlives the request that began it.
	batchTimeout = 10 * time.Second
)

// Loaders are the loaders of one request. They are never shared between requests: a batch answers from one moment, and
// what it found is remembered.
type Loaders struct {
	comments *loader[comment.ID, comment.Comment]
	textless *loader[comment.ID, comment.Comment] // comments without their texts
	stats    *loader[string, comment.Stats]
	rows     *loader[comment.ProductLanguage, comment.Counts]

	freshness Freshness
	fresh     sync.Once
	asOf      *time.Time // set by fresh
}

// New makes the loaders of one request.
func New(comments CommentGetter, stats StatsGetter) *Loaders {
	l := &Loaders{
		comments: newLoader("comments", commentsBy(comments, false)),
		textless: newLoader("comments without texts", commentsBy(comments, true)),
		rows:     newLoader("counts of languages", stats.RowsOf),
	}
	l.stats = newLoader("statistics", func(ctx context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
		l.fresh.Do(func() { l.noteFreshness(ctx) })
		return stats.StatsOf(ctx, products)
	})
	return l
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
