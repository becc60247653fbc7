// Package loaders fetches together what many fields of one request ask for.
package loaders

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

// LatestGetter knows the newest comments of products from their statistics.
type LatestGetter interface {
	// StatsAndLatest returns statistics like Options.Stats, but may reuse recent ones. Newest relies
	// on them afterwards. upTo is a time up to which they must count all changes, zero if that is
	// unknown. The result includes some of the wanted comments.
	StatsAndLatest(ctx context.Context, products []string, upTo time.Time, want comment.Latest) (comment.StatsAndLatest, error)
	// LatestByID fetches comments that Newest named, eventually consistently.
	LatestByID(ctx context.Context, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, error)
	// Newest returns the id of the newest comment of a product with one of some ratings, empty if
	// there is none. known is false if the statistics of the product are unknown or too old. among is
	// how many of the newest comments are known to have no such rating.
	Newest(product string, ratings []int, among int) (id comment.ID, known bool)
}

// Freshness returns a time up to which statistics that are read from now on include every change.
// known is false if there is no such time yet. Each request calls it before it fetches its first
// statistics, so it must be quick.
type Freshness func(ctx context.Context) (upTo time.Time, known bool)

// Options are what the loaders of a request call. Comments, Stats and Rows are required, and Own
// and Votes if a customer asks for what these fetch.
type Options struct {
	// Comments fetches comments by their ids, with their texts or without.
	Comments func(ctx context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error)
	// Stats fetches the statistics of products. Products without comments have none.
	Stats Get[string, comment.Stats]
	// Rows fetches the counts of languages that are among the Others of the statistics of their
	// products.
	Rows Get[comment.ProductLanguage, comment.Row]
	// Own fetches the newest comments of one customer about products, all or none.
	Own func(ctx context.Context, keys []comment.CustomerProduct) (map[comment.CustomerProduct]comment.Comment, error)
	// Votes fetches votes of customers about comments.
	Votes Get[comment.VoteKey, comment.CastVote]
	// Latest knows newest comments. Without it, all newest comments are unknown.
	Latest LatestGetter
	// Freshness returns how fresh statistics are. Optional; without it, StatsAsOf returns nil.
	Freshness Freshness
	// Batches is called with the kind and the number of the keys of each batch. Optional.
	Batches func(what string, keys int)
}

// Loaders are the loaders of one request. Requests never share them: they cache values as they were
// when they were read.
type Loaders struct {
	options  Options
	comments loader[comment.ID, comment.Comment]
	textless loader[comment.ID, comment.Comment] // comments without their texts
	stats    loader[string, comment.Stats]
	rows     loader[comment.ProductLanguage, comment.Row]
	own      loader[comment.CustomerProduct, comment.Comment]
	votes    loader[comment.VoteKey, comment.CastVote]

	// Comments that LatestGetter.Newest names.
	latest, textlessLatest loader[comment.ID, comment.Comment]

	fresh sync.Once

	mu    sync.Mutex
	asOf  time.Time      // as StatsAsOf returns it, zero if it is unknown
	want  comment.Latest // without Ratings if no field wants newest comments
	pages map[PageKey]*answer[comment.Page]
	// What the answer depends on, as resolvers report it.
	products  map[string]bool
	forCaller bool
}

// New returns the loaders of one request.
func New(o Options) *Loaders {
	l := &Loaders{options: o, pages: map[PageKey]*answer[comment.Page]{}, products: map[string]bool{}}
	commentsOf := func(withoutText bool) Get[comment.ID, comment.Comment] {
		return func(ctx context.Context, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
			return o.Comments(ctx, ids, withoutText)
		}
	}
	latestOf := func(withoutText bool) Get[comment.ID, comment.Comment] {
		return whole(func(ctx context.Context, ids []comment.ID) (map[comment.ID]comment.Comment, error) {
			return o.Latest.LatestByID(ctx, ids, withoutText)
		})
	}
	l.comments.begin("comments", commentsOf(false), o.Batches)
	l.textless.begin("comments without texts", commentsOf(true), o.Batches)
	l.stats.begin("statistics", l.statsOf, o.Batches)
	l.latest.begin("newest comments", latestOf(false), o.Batches)
	l.textlessLatest.begin("newest comments without texts", latestOf(true), o.Batches)
	l.rows.begin("counts of languages", o.Rows, o.Batches)
	l.own.begin("own comments", whole(o.Own), o.Batches)
	l.votes.begin("own votes", o.Votes, o.Batches)
	return l
}

// statsOf fetches statistics, together with the newest comments that WantLatest announced.
func (l *Loaders) statsOf(ctx context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	l.fresh.Do(func() {
		if l.options.Freshness == nil {
			return
		}
		if upTo, known := l.options.Freshness(ctx); known {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.asOf = upTo
		}
	})
	l.mu.Lock()
	want, upTo := l.want, l.asOf
	l.mu.Unlock()
	if l.options.Latest == nil || len(want.Ratings) == 0 {
		return l.options.Stats(ctx, products)
	}
	got, err := l.options.Latest.StatsAndLatest(ctx, products, upTo, want)
	l.mu.Lock()
	if got.AsOf.Before(l.asOf) && !got.AsOf.IsZero() {
		l.asOf = got.AsOf
	}
	l.mu.Unlock()
	for id, c := range got.Comments {
		l.textlessLatest.offer(id, c) // the comment may have its text here; that does no harm
		if !want.WithoutText {
			l.latest.offer(id, c)
		}
	}
	return got.Found, got.Failed, err
}

// Comment returns the comment of an id, nil if there is none. Comments asked for within a
// millisecond are fetched together, those without texts separately.
func (l *Loaders) Comment(ctx context.Context, id comment.ID, withoutText bool) (*comment.Comment, error) {
	if withoutText {
		return l.textless.load(ctx, id)
	}
	return l.comments.load(ctx, id)
}

// Own returns the newest comment of the customer who asks about a product, nil if there is none.
// Those that are asked for within a millisecond are fetched together.
func (l *Loaders) Own(ctx context.Context, customer, product string) (*comment.Comment, error) {
	return l.own.load(ctx, comment.CustomerProduct{Customer: customer, Product: product})
}

// Vote returns the vote of a customer about a comment. Those that are asked for within a
// millisecond are fetched together.
func (l *Loaders) Vote(ctx context.Context, key comment.VoteKey) (comment.Vote, error) {
	cast, err := l.votes.load(ctx, key)
	return cmp.Or(cast, &comment.CastVote{Vote: comment.NoVote}).Vote, err
}

// Voted caches the vote that a customer has just cast.
func (l *Loaders) Voted(key comment.VoteKey, vote comment.Vote) {
	l.votes.put(key, &comment.CastVote{By: key.Customer, Vote: vote})
}

// PageKey identifies a page that several fields of an operation share.
type PageKey struct {
	Product string
	// Field is the field that asks for the page, or another key that is unique to the page.
	Field any
}

// errUnread is the error of a page whose reading panicked.
var errUnread = errors.New("the page could not be read")

// Page returns the page of a key. The first field that asks for it calls read, in its own
// goroutine, and the others wait. The result of read must depend on the key only. The page is
// shared, so do not change it.
func (l *Loaders) Page(ctx context.Context, key PageKey, read func(context.Context) (comment.Page, error)) (comment.Page, error) {
	l.mu.Lock()
	page, known := l.pages[key]
	if !known {
		page = &answer[comment.Page]{done: make(chan struct{}), err: errUnread}
		l.pages[key] = page
	}
	l.mu.Unlock()
	if known {
		return page.wait(ctx)
	}
	defer close(page.done)
	page.value, page.err = read(ctx)
	return page.value, page.err
}

type contextKey struct{}

// holder makes the loaders of a request when a field first asks for them: most requests for a page
// need none.
type holder struct {
	options Options

	mu   sync.Mutex
	made *Loaders
}

// With puts the loaders of a request into its context.
func With(ctx context.Context, o Options) context.Context {
	return context.WithValue(ctx, contextKey{}, &holder{options: o})
}

// From returns the loaders in the context of a request. It panics if there are none, which is a
// bug: every request passes through With.
func From(ctx context.Context) *Loaders {
	h, ok := ctx.Value(contextKey{}).(*holder)
	if !ok {
		panic("loaders: the context has none; every request passes through loaders.With")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made == nil {
		h.made = New(h.options)
	}
	return h.made
}

// Await waits until the loaders of a request have fetched everything asked of them, or the context
// ends. A field that fails does not wait for its reads, and yet they cost read units.
func Await(ctx context.Context) {
	h, ok := ctx.Value(contextKey{}).(*holder)
	if !ok {
		return
	}
	h.mu.Lock()
	l := h.made
	h.mu.Unlock()
	if l == nil {
		return
	}
	for _, await := range []func(context.Context){
		l.stats.await, l.rows.await, l.own.await, l.votes.await,
		l.comments.await, l.textless.await, l.latest.await, l.textlessLatest.await,
	} {
		await(ctx)
	}
}

// Forget drops the values that a request has read, so that later fields read them again. The fields
// of a mutation run one after the other, and each must show its own write although an earlier one
// has read the same item.
func Forget(ctx context.Context) {
	Await(ctx)
	if h, ok := ctx.Value(contextKey{}).(*holder); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.made = nil
	}
}

// About notes that the answer depends on the products: it may change when one of them does.
func (l *Loaders) About(products ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, product := range products {
		l.products[product] = true
	}
}

// ForCaller notes that part of the answer depends on the caller.
func (l *Loaders) ForCaller() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forCaller = true
}

// Subject returns the products that the answer depends on, sorted. forAll is true if the answer is
// the same for every caller.
func (l *Loaders) Subject() (products []string, forAll bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.products)), !l.forCaller
}
