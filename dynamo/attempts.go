package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
)

// failedAge is how long an attempt that failed keeps others from being made: about as long as counts that steer may be false.
const failedAge = time.Minute

// attempts remembers which attempts were given up lately, so that a list whose counts are false pays for that once and not
// for each page. It is safe for use by many goroutines.
type attempts struct {
	now func() time.Time

	mu     sync.Mutex
	failed *simplelru.LRU[attemptKey, time.Time]
}

// attemptKey says what was attempted. A probe may fail where a page would not, as it may cost less.
type attemptKey struct {
	product   string
	languages string
	ratings   uint8
	purpose   comment.ReadPurpose
}

func newAttempts() *attempts {
	return &attempts{now: time.Now, failed: newLRU[attemptKey, time.Time](remembered, nil)}
}

// attempt is the key of an attempt to read a page of a query, or to probe beside it.
func (k queryKey) attempt(purpose comment.ReadPurpose) attemptKey {
	return attemptKey{product: k.product, languages: k.languages, ratings: k.ratings, purpose: purpose}
}

// fail takes note of an attempt that was given up.
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
