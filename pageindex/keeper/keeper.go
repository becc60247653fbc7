// Package keeper keeps stores of page numbers complete: it feeds them what is counted, knows when
// they missed something, has them built anew, and refuses to answer from a store that may be wrong.
//
// A store lies outside the table, so no transaction covers both. What makes it trustworthy is a
// token. The table has a registry of stores (registry.go): each has an identity, and a number that
// rises whenever a process counted comments and could not tell the store. A store is complete if
// and only if it covers the text made of both, and of when the statistics were last rebuilt.
//
//   - Feeding (feed.go). A process that counts hands over entries once they are counted, before their
//     records are done with. They reach the store, or the number in the table rises, or the records
//     come again. So counting waits for a store for two seconds at most, once.
//   - Moments (moment.go). Store and table move on together, so that one which is put back to an earlier
//     state does not fit the other any more.
//   - Finding (find.go). An answer is given only if the store covered the token before and after it.
//   - Building (build.go). A build notes in the table that it begins, waits until every process has
//     read that, and then brings in all markers of the table. What is counted from then on is fed,
//     or raises the number, so that the build was in vain and begins again.
//
// Choosing (target.go) reads which store an operator named; it is opened as soon as it answers (lazy.go).
//
// Entries may be fed at any time and in any order: each comment has the entry that comes last by
// Follows. So what was said above only has to make sure that none is missing.
package keeper

import (
	"crypto/rand"
	"sync/atomic"
)

// Keeper keeps one store of a table complete, and knows what the table's other stores miss. It is
// safe for concurrent use.
type Keeper struct {
	Options

	registry *cached[Registry]
	seen     *cached[storeStatus]
	fed      *cached[string] // the identity of the store
	unmoved  atomic.Bool     // entries were fed since store and table moved on
	wake     chan struct{}   // holds one signal when the store is to be looked at
}

// New makes a keeper.
func New(options Options) *Keeper {
	if options.Pace == (Pace{}) {
		options.Pace = DefaultPace()
	}
	k := &Keeper{Options: options, wake: make(chan struct{}, 1)}
	k.registry = newCached(k.Pace.Look, k.Table.Registry)
	k.seen = newCached(k.Pace.Look, k.readStatus)
	k.fed = newCached[string](k.Pace.Look, nil) // only by advance, which commands that only read do not call
	return k
}

func newIdentity() string { return rand.Text() }

// awake wakes the keeper, which checks the store at once.
func (k *Keeper) awake() {
	select {
	case k.wake <- struct{}{}:
	default: // a signal is waiting already
	}
}
