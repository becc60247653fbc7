package conformance

import (
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// Place is where a store keeps its data.
type Place struct {
	// Open opens the store. Later calls open it with the existing data. The suite closes a store
	// before it opens the next, unless Shared is set.
	Open func(t *testing.T) pageindex.Store
	// Shared means that several processes may have the store open at once.
	Shared bool
	// Costly means that a call takes milliseconds, so tests do a third of the work.
	Costly bool
	// Held lists everything that the store holds of a product, except entries of deleted comments.
	// It is for messages, and may be nil.
	Held func(t *testing.T, product string) []string
}

// open opens the store until the test ends.
func (p Place) open(t *testing.T) pageindex.Store {
	t.Helper()
	store := p.Open(t)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// times returns how often to repeat something.
func (p Place) times(n int) int {
	if p.Costly {
		return (n + 2) / 3
	}
	return n
}

// second opens the store a second time if it is Shared, and returns first otherwise.
func (p Place) second(t *testing.T, first pageindex.Store) pageindex.Store {
	t.Helper()
	if !p.Shared {
		return first
	}
	return p.open(t)
}

// apply applies entries to a store and to the expected content.
func apply(t *testing.T, store pageindex.Store, want comments, entries []pageindex.Entry) {
	t.Helper()
	must.Do(t, store.Apply(t.Context(), entries))
	want.apply(entries)
}

// settleWithin is how long a store may take to clean up after itself. Only a failing test waits
// that long.
const settleWithin = 20 * time.Second

// checkNothingHeld waits until a store holds nothing of a product.
func checkNothingHeld(t *testing.T, p Place, product string) {
	t.Helper()
	if p.Held == nil {
		return
	}
	deadline := time.Now().Add(settleWithin)
	held := p.Held(t, product)
	for ; len(held) > 0 && time.Now().Before(deadline); held = p.Held(t, product) {
		time.Sleep(10 * time.Millisecond)
	}
	if len(held) > 0 {
		t.Errorf("of product %q the store still holds %d things, such as %q", product, len(held), held[0])
	}
}
