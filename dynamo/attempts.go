package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
)

// failedAge is how long after a failed attempt no other is made: statistics that steer may be wrong
// for about as long.
const failedAge = time.Minute

// attempts remembers which attempts were given up lately, so a list with wrong counts pays for one
// failed attempt and not for one with each page. It is safe for use by many goroutines.
type attempts struct {
	now func() time.Time

	mu     sync.Mutex
	failed *simplelru.LRU[attemptKey, time.Time]
}

// attemptKey identifies what was attempted. A probe has a key of its own: its bound is lower than
// that of a page.
type attemptKey struct {
	product    string
	conditions string
	purpose    comment.ReadPurpose
}

func newAttempts() *attempts {
	return &attempts{now: time.Now, failed: newLRU[attemptKey, time.Time](remembered, nil)}
}

// attempt is the key of an attempt to read a page of a query, or to probe beside it.
func (k queryKey) attempt(purpose comment.ReadPurpose) attemptKey {
	return attemptKey{product: k.product, conditions: k.conditions, purpose: purpose}
}

// fail notes that an attempt was given up.
func (a *attempts) fail(key attemptKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed.Add(key, a.now())
}

// failedLately tells whether such an attempt was given up within failedAge.
func (a *attempts) failedLately(key attemptKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, known := a.failed.Get(key)
	return known && a.now().Sub(at) < failedAge
}
