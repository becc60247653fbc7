// Package keeper keeps stores of page numbers complete. It feeds them counted comments, notices
// when they missed some, rebuilds them, and refuses to answer from a store that may be wrong.
//
// A store lies outside the table, so no transaction covers both. A token makes up for that. The
// table has a registry of stores (registry.go). Each has an identity, and a number that rises
// whenever a process counted comments and could not feed them to the store. A store is complete if
// and only if it covers the token: a text made of both, and of when the statistics were last
// rebuilt.
//
//   - Feeding (feed.go). A process that counts feeds entries once they are counted, before
//     their records count as processed. They reach the store, or the number in the table rises, or
//     the records come again. So counting waits for a store for two seconds at most, once.
//   - Moments (storestatus.go). Store and table move on together, so that if one is put back to an
//     earlier state, the two no longer match.
//   - Finding. [Keeper.Find] answers only if the store covered the token before and after it.
//   - Building (build.go). A build notes its beginning in the table, waits until every process has
//     read that, and then adds all markers of the table. Whatever is counted from then on is fed,
//     or raises the number, which makes the build fail and start over.
//
// Choosing (target.go) parses an operator's choice of a store, which is opened as soon as it
// answers (lazy.go).
//
// Entries may be fed at any time and in any order: the store keeps each comment's last entry by
// Follows. So all of this only has to ensure that none is missing.
package keeper

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/markers"
)

// Keeper keeps one store of a table complete, and notes what the table's other stores miss. It is
// safe for concurrent use.
type Keeper struct {
	Options
	watch

	registry *task.Cached[Registry]
	fed      *task.Cached[string] // the identity of the store
	unmoved  atomic.Bool          // entries were fed since the last advance
	wake     chan struct{}        // holds one signal to check the store
}

// New makes a keeper.
func New(options Options) *Keeper {
	if options.Pace == (Pace{}) {
		options.Pace = DefaultPace()
	}
	k := &Keeper{Options: options, wake: make(chan struct{}, 1)}
	k.registry = task.NewCached(k.Pace.Look, k.Table.Registry)
	k.watch = watch{seen: task.NewCached(k.Pace.Look, k.readStatus), lag: k.Pace.Lag}
	k.fed = task.NewCached[string](k.Pace.Look, nil) // read by advance only, which read-only commands do not call
	return k
}

// Open makes the keeper of a target's store. It sets Table, Name and Store of the options. The
// targets InTable and Nowhere have no store to feed: their keeper has none either. A store that
// does not answer is opened later; one that can never be opened is a BadInput error.
func Open(ctx context.Context, t Target, client *dynamodb.Client, table string, options Options) (*Keeper, error) {
	options.Table = NewTableRegistry(client, table)
	switch {
	case t.Name == InMarkers:
		options.Name, options.Store = t.Name, markers.Open(client, table)
	case t.Outside():
		store := NewLazy(t, table)
		if _, err := store.Opened(ctx); comment.KindOf(err) == comment.BadInput {
			return nil, err
		}
		options.Name, options.Store = t.Name, store
	}
	return New(options), nil
}

func newIdentity() string { return rand.Text() }

// awake makes Run check the store at once.
func (k *Keeper) awake() {
	select {
	case k.wake <- struct{}{}:
	default: // a signal is waiting already
	}
}

// An answer is right if the store was complete when it answered. Two facts prove that, although the
// table, the store and the answer are read one after the other.
//
// First, Find reads how far counting has come, and then the registry. Whatever was counted by then
// was fed, or its gap is in the registry. A gap that is declared later is noticed up to Look later.
// Until then, the answer lacks no change from before the first read: it is as if counting were that
// much late.
//
// Second, the store covered the token at most Look before the answer, and covers it after the
// answer. It cannot have been incomplete between. A store that was emptied or taken by another
// table has lost its identity, and never gets the same one again. One that was rebuilt meanwhile
// covered another token before.

// Find finds targets in a list. The error is of the kind Unavailable while the store does not
// answer, may lack comments, or counting is late.
func (k *Keeper) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	now, err := k.seen.Get(ctx)
	if err != nil {
		return pageindex.Found{}, err
	}
	if err := now.objection(time.Now(), k.Pace.Lag); err != nil {
		k.awake()
		return pageindex.Found{}, err
	}
	asked, cancel := context.WithTimeout(ctx, k.Pace.Find)
	defer cancel()
	found, err := k.Store.Find(asked, list, targets)
	var covers string
	if err == nil {
		covers, err = k.Store.Covers(asked)
	}
	switch {
	case ctx.Err() != nil: // the caller left or has no more time, which says nothing about the store
		return pageindex.Found{}, ctx.Err()
	case err != nil:
		err = unavailable(storeAway, err)
	case tokenOf(covers) != tokenOf(now.covers):
		err = unavailable(notBuilt, errors.New("the store lost what it covered"))
	}
	if err != nil {
		k.seen.Forget()
		return pageindex.Found{}, err
	}
	return found, nil
}

// watch is a recent status of a store.
type watch struct {
	seen *task.Cached[storeStatus]
	lag  time.Duration // how far counting may be behind for the store to answer
}

// Lag returns how far the store lags behind the comments, and whether it answers: whether it is
// complete, and not too late. It uses information up to some seconds old. known is false if the
// progress of counting is unknown.
func (w watch) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	s, err := w.seen.Get(ctx)
	if err != nil {
		return 0, false, false
	}
	now := time.Now()
	return max(0, now.Sub(s.upTo)), s.known, s.objection(now, w.lag) == nil
}
