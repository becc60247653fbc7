// Package loaders fetches together what many fields of one request ask for.
package loaders

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

// CommentGetter fetches comments by their ids, with their texts or without. The ids are distinct
// and at most 100. Comments that do not exist are in neither result; those that could not be
// fetched are in failed.
type CommentGetter interface {
	CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (
		found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error,
	)
}

// StatsGetter fetches the statistics of products. The keys are distinct and at most 100. Products
// without comments are in neither result; those whose statistics could not be fetched are in
// failed.
type StatsGetter interface {
	StatsOf(ctx context.Context, products []string) (
		found map[string]comment.Stats, failed map[string]error, err error,
	)
	// RowsOf does the same for languages that are among the Others of the statistics of their
	// products.
	RowsOf(ctx context.Context, languages []comment.ProductLanguage) (
		found map[comment.ProductLanguage]comment.Counts, failed map[comment.ProductLanguage]error, err error,
	)
}

// LatestGetter knows the newest comments of products from their statistics.
type LatestGetter interface {
	// StatsAndLatest fetches statistics as a StatsGetter does, so that Newest can rely on them. upTo
	// is a time up to which all changes are counted, zero if that is unknown. Some of the wanted
	// comments come along: comments has nil for one that does not exist.
	StatsAndLatest(ctx context.Context, products []string, upTo time.Time, want comment.Latest) (
		found map[string]comment.Stats, comments map[comment.ID]*comment.Comment, failed map[string]error, err error,
	)
	// Newest returns the id of the newest comment of a product with one of some ratings, empty if
	// there is none. It is false if the statistics of the product are not known, or too old. among is
	// how many of the newest comments do not have such a rating.
	Newest(product string, ratings []int, among int) (id comment.ID, known bool)
}

// Freshness returns a time up to which every change is in the statistics that are read from now on.
// It reports false when that is unknown. Each request calls it before it fetches its first
// statistics, so it must be quick.
type Freshness func(ctx context.Context) (upTo time.Time, known bool)

// Loaders are the loaders of one request. Requests never share them: what they have found is kept
// as it was at that moment.
type Loaders struct {
	comments loader[comment.ID, comment.Comment]
	textless loader[comment.ID, comment.Comment] // comments without their texts
	stats    loader[string, comment.Stats]
	rows     loader[comment.ProductLanguage, comment.Counts]

	freshness Freshness
	fresh     sync.Once
	asOf      *time.Time // set by fresh

	source StatsGetter
	latest LatestGetter // nil if newest comments are not known

	pages pages

	mu   sync.Mutex
	want comment.Latest // no ratings if none are wanted
}

// New returns the loaders of one request.
func New(comments CommentGetter, stats StatsGetter) *Loaders {
	l := &Loaders{source: stats}
	l.comments.what, l.comments.get = "comments", commentsOf(comments, false)
	l.textless.what, l.textless.get = "comments without texts", commentsOf(comments, true)
	l.rows.what, l.rows.get = "counts of languages", stats.RowsOf
	l.stats.what, l.stats.get = "statistics", l.statsOf
	return l
}

// statsOf fetches statistics, and along with them newest comments that are wanted.
func (l *Loaders) statsOf(ctx context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	l.fresh.Do(func() { l.noteFreshness(ctx) })
	l.mu.Lock()
	want := l.want
	l.mu.Unlock()
	if l.latest == nil || len(want.Ratings) == 0 {
		return l.source.StatsOf(ctx, products)
	}
	var upTo time.Time
	if l.asOf != nil {
		upTo = *l.asOf
	}
	found, comments, failed, err := l.latest.StatsAndLatest(ctx, products, upTo, want)
	l.commentLoader(want.WithoutText).know(comments)
	return found, failed, err
}

// commentsOf returns the getter of a loader of comments.
func commentsOf(comments CommentGetter, withoutText bool) get[comment.ID, comment.Comment] {
	return func(ctx context.Context, ids []comment.ID) (
		map[comment.ID]comment.Comment, map[comment.ID]error, error,
	) {
		return comments.CommentsByID(ctx, ids, withoutText)
	}
}

func (l *Loaders) commentLoader(withoutText bool) *loader[comment.ID, comment.Comment] {
	if withoutText {
		return &l.textless
	}
	return &l.comments
}

// TellBatches has a function called with what each batch fetches and how many keys it has. It comes
// before anything is loaded.
func (l *Loaders) TellBatches(told func(what string, keys int)) {
	l.comments.told, l.textless.told, l.stats.told, l.rows.told = told, told, told, told
}

// TellFreshness sets how the loaders find out how fresh statistics are. It comes before anything is
// loaded.
func (l *Loaders) TellFreshness(freshness Freshness) { l.freshness = freshness }

// noteFreshness notes how fresh the statistics are that are fetched after it.
func (l *Loaders) noteFreshness(ctx context.Context) {
	if l.freshness == nil {
		return
	}
	if upTo, known := l.freshness(ctx); known {
		l.asOf = &upTo
	}
}

type contextKey struct{}

// later makes the loaders of a request when the first field asks for them. Most requests for a page
// need none. It is the context of the request as well.
type later struct {
	context.Context
	load func() *Loaders

	mu   sync.Mutex
	made *Loaders // nil until then
}

// Value implements [context.Context].
func (l *later) Value(key any) any {
	if key == (contextKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// With puts the loaders of a request into its context. They are made once they are needed.
func With(ctx context.Context, load func() *Loaders) context.Context {
	return &later{Context: ctx, load: load}
}

// laterOf returns the loaders in the context of a request. It panics if there are none, which is a
// bug: every request passes through With.
func laterOf(ctx context.Context) *later {
	l, ok := ctx.Value(contextKey{}).(*later)
	if !ok {
		panic("loaders: the context has none; every request passes through loaders.With")
	}
	return l
}

// From returns the loaders in the context of a request.
func From(ctx context.Context) *Loaders {
	l := laterOf(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		l.made = l.load()
	}
	return l.made
}

// BeginStats begins to fetch what ExpectStatsAlone noted for the request of a context, if it noted
// anything. It does not wait for it.
func BeginStats(ctx context.Context) {
	l := laterOf(ctx)
	l.mu.Lock()
	made := l.made
	l.mu.Unlock()
	if made != nil {
		made.stats.beginNoted(ctx)
	}
}
