package keeper

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/talkback/talkback/pageindex"
)

const (
	// openWithin is how long opening a store may take.
	openWithin = 5 * time.Second
	// retryAfter is how long no attempt is made after a store could not be opened.
	retryAfter = time.Second
)

// Lazy is a store that is opened on first use, and again after a failure. So a process starts and
// keeps running without it. It is safe for concurrent use.
type Lazy struct {
	open func(ctx context.Context) (Outside, error)

	turn   *semaphore.Weighted // taken while it is opened; guards the fields below
	store  Outside             // nil until it is open
	failed error
	since  time.Time // when it failed
}

var _ Outside = (*Lazy)(nil)

// NewLazy makes a store for a table from a target that Parse returned.
func NewLazy(t Target, table string) *Lazy {
	return &Lazy{
		open: func(ctx context.Context) (Outside, error) { return t.Kind.Open(ctx, t.text, table) },
		turn: semaphore.NewWeighted(1),
	}
}

// Opened returns the store, and opens it first if necessary.
func (l *Lazy) Opened(ctx context.Context) (Outside, error) {
	if err := l.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer l.turn.Release(1)
	if l.store != nil {
		return l.store, nil
	}
	if l.failed != nil && time.Since(l.since) < retryAfter {
		return nil, l.failed
	}
	opening, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	store, err := l.open(opening)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // else its caller left, which says nothing about the store
			l.failed, l.since = err, time.Now()
		}
		return nil, err
	}
	l.store, l.failed = store, nil
	return store, nil
}

// with calls use with the opened store.
func (l *Lazy) with(ctx context.Context, use func(Outside) error) error {
	store, err := l.Opened(ctx)
	if err != nil {
		return err
	}
	return use(store)
}

// ask returns the result of use, called with the opened store.
func ask[T any](ctx context.Context, l *Lazy, use func(Outside) (T, error)) (answer T, err error) {
	err = l.with(ctx, func(store Outside) (err error) {
		answer, err = use(store)
		return err
	})
	return answer, err
}

// Find implements pageindex.Index.
func (l *Lazy) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	return ask(ctx, l, func(store Outside) (pageindex.Found, error) { return store.Find(ctx, list, targets) })
}

// Covers implements pageindex.Store.
func (l *Lazy) Covers(ctx context.Context) (string, error) {
	return ask(ctx, l, func(store Outside) (string, error) { return store.Covers(ctx) })
}

// Apply implements pageindex.Store.
func (l *Lazy) Apply(ctx context.Context, entries []pageindex.Entry) error {
	return l.with(ctx, func(store Outside) error { return store.Apply(ctx, entries) })
}

// Renew implements pageindex.Renewer.
func (l *Lazy) Renew(ctx context.Context, was, covers string) error {
	return l.with(ctx, func(store Outside) error { return store.Renew(ctx, was, covers) })
}

// Products implements pageindex.Store.
func (l *Lazy) Products(ctx context.Context, tell func(product string)) error {
	return l.with(ctx, func(store Outside) error { return store.Products(ctx, tell) })
}

// Build implements pageindex.Store.
func (l *Lazy) Build(ctx context.Context) (pageindex.Build, error) {
	return ask(ctx, l, func(store Outside) (pageindex.Build, error) { return store.Build(ctx) })
}

// Close closes the store if it is open.
func (l *Lazy) Close() error {
	_ = l.turn.Acquire(context.Background(), 1) // which never ends
	defer l.turn.Release(1)
	if l.store == nil {
		return nil
	}
	return l.store.Close()
}
