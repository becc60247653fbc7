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
//   - Moments (moment.go). Store and table move on together, so that if one is put back to an
//     earlier state, the two no longer match.
//   - Finding (find.go). Find answers only if the store covered the token before and after it.
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
	"crypto/rand"
	"sync/atomic"
)

// Keeper keeps one store of a table complete, and notes what the table's other stores miss. It is
// safe for concurrent use.
type Keeper struct {
	Options

	registry *cached[Registry]
	seen     *cached[storeStatus]
	fed      *cached[string] // the identity of the store
	unmoved  atomic.Bool     // entries were fed since the last advance
	wake     chan struct{}   // holds one signal to check the store
}

// New makes a keeper.
func New(options Options) *Keeper {
	if options.Pace == (Pace{}) {
		options.Pace = DefaultPace()
	}
	k := &Keeper{Options: options, wake: make(chan struct{}, 1)}
	k.registry = newCached(k.Pace.Look, k.Table.Registry)
	k.seen = newCached(k.Pace.Look, k.readStatus)
	k.fed = newCached[string](k.Pace.Look, nil) // read by advance only, which read-only commands do not call
	return k
}

func newIdentity() string { return rand.Text() }

// awake makes Run check the store at once.
func (k *Keeper) awake() {
	select {
	case k.wake <- struct{}{}:
	default: // a signal is waiting already
	}
}
