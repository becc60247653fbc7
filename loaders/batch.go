package loaders

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"
)

const (
	// wait is how long a batch waits for more keys. Fields of one level ask within microseconds of
	// each other.
	wait = time.Millisecond
	// batchCapacity is how many keys one BatchGetItem takes.
	batchCapacity = 100
	// batchTimeout bounds a batch, which may outlive the request that began it.
	batchTimeout = 10 * time.Second
)

// get fetches values by their keys, which are distinct and at most batchCapacity. Values that do
// not exist are in neither result; those that could not be fetched are in failed.
type get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// loader batches the keys of one kind that are asked for within a millisecond, and keeps what was
// found.
//
// The dataloader library batches them: it fetches a batch after a time, or as soon as it is full.
// But a wait for its answers cannot be canceled, it keeps failures, and each batch takes a
// goroutine with a timer. So the loader keeps the answers itself. Keys that the caller knows to be
// complete are not batched but noted: the first caller that waits for any of them fetches all, in
// its own goroutine.
type loader[K comparable, V any] struct {
	what string // what it loads, in the plural, for errors
	get  get[K, V]
	told func(what string, keys int) // of each batch; nil if nobody asks

	mu      sync.Mutex
	batched *dataloader.Loader[K, struct{}] // nil until the first key is batched: most requests batch none
	answers map[K]*answer[V]                // nil until the first key is asked for
	noted   []K                             // keys that are not being fetched yet; at most batchCapacity
}

// answer is what was found for a key. It is set once done is closed.
type answer[V any] struct {
	done  chan struct{}
	found bool // whether there is a value
	value V
	err   error
}

// batch has the library fetch a key along with others.
func (l *loader[K, V]) batch(ctx context.Context, key K) {
	if l.batched == nil {
		l.batched = dataloader.NewBatchedLoader(
			l.fetchBatch,
			dataloader.WithWait[K, struct{}](wait),
			dataloader.WithBatchCapacity[K, struct{}](batchCapacity),
			dataloader.WithCache[K, struct{}](&dataloader.NoCache[K, struct{}]{}),
		)
	}
	l.batched.Load(ctx, key)
}

// expect fetches a key along with others, unless that is under way or done. A failure is not kept:
// the next call makes a new attempt.
func (l *loader[K, V]) expect(ctx context.Context, key K) *answer[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.answer(key)
	if !known {
		l.batch(ctx, key)
	}
	return a
}

// note notes keys for the first caller that waits for anything. It skips keys whose fetch is under
// way or done.
func (l *loader[K, V]) note(ctx context.Context, keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if _, known := l.answer(key); known {
			continue
		}
		if len(l.noted) == batchCapacity {
			l.batch(ctx, key)
			continue
		}
		l.noted = append(l.noted, key)
	}
}

// answer returns the answer of a key, a new one if there is none yet.
func (l *loader[K, V]) answer(key K) (a *answer[V], known bool) {
	if a = l.answers[key]; a != nil {
		return a, true
	}
	if l.answers == nil {
		l.answers = map[K]*answer[V]{}
	}
	a = &answer[V]{done: make(chan struct{})}
	l.answers[key] = a
	return a, false
}

// load returns the value of a key, nil if there is none. It waits until the caller's context ends.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	a := l.expect(ctx, key)
	l.fetchNoted(ctx)
	return a.wait(ctx)
}

// begin begins to fetch keys: in one call as soon as one of them is loaded, or batched with those of
// other callers.
func (l *loader[K, V]) begin(ctx context.Context, keys []K, batched bool) {
	if !batched {
		l.note(ctx, keys)
		return
	}
	for _, key := range keys {
		l.expect(ctx, key)
	}
}

// settle waits until a key is fetched, if it is expected or noted.
func (l *loader[K, V]) settle(ctx context.Context, key K) {
	l.mu.Lock()
	a := l.answers[key]
	l.mu.Unlock()
	if a != nil {
		l.fetchNoted(ctx)
		_, _ = a.wait(ctx) // the fields that show the value tell its error
	}
}

// know takes values that were fetched in another way, nil for keys without one.
func (l *loader[K, V]) know(values map[K]*V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, value := range values {
		a, known := l.answer(key)
		if known {
			continue
		}
		if a.found = value != nil; a.found {
			a.value = *value
		}
		close(a.done)
	}
}

// loadAll returns the values of keys, and reports whether all of them could be fetched.
func (l *loader[K, V]) loadAll(ctx context.Context, keys []K) (values []*V, whole bool) {
	answers := make([]*answer[V], len(keys))
	for i, key := range keys {
		answers[i] = l.expect(ctx, key)
	}
	l.fetchNoted(ctx)
	for _, a := range answers {
		value, err := a.wait(ctx)
		if err != nil {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

func (a *answer[V]) wait(ctx context.Context) (*V, error) {
	select {
	case <-a.done:
		if a.err != nil || !a.found {
			return nil, a.err
		}
		return &a.value, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetchNoted fetches what was noted. It ends with the caller's request, to which everyone who waits
// for it belongs.
func (l *loader[K, V]) fetchNoted(ctx context.Context) {
	if keys := l.takeNoted(); len(keys) > 0 {
		l.fetch(ctx, keys)
	}
}

// beginNoted begins to fetch what was noted, and does not wait for it.
func (l *loader[K, V]) beginNoted(ctx context.Context) {
	if keys := l.takeNoted(); len(keys) > 0 {
		go l.fetch(ctx, keys)
	}
}

func (l *loader[K, V]) takeNoted() (keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys, l.noted = l.noted, nil
	return keys
}

// fetchBatch is what the library calls with a batch. It passes the context of the first caller,
// whose end must not fail the keys of the others. It expects one result for each key, which are not
// used.
func (l *loader[K, V]) fetchBatch(ctx context.Context, keys []K) []*dataloader.Result[struct{}] {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	l.fetch(ctx, keys)
	return make([]*dataloader.Result[struct{}], len(keys))
}

// fetch fetches keys, and hands the answers to the callers that wait for them.
func (l *loader[K, V]) fetch(ctx context.Context, keys []K) {
	if l.told != nil {
		l.told(l.what, len(keys))
	}
	found, failed, err := l.tryGet(ctx, keys)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		a := l.answers[key]
		a.value, a.found = found[key]
		if a.err = cmp.Or(err, failed[key]); a.err != nil {
			delete(l.answers, key)
		}
		close(a.done)
	}
}

// tryGet turns a panic of the getter into an error. It may run in a goroutine of the library or of
// this package, where a panic would end the process.
func (l *loader[K, V]) tryGet(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), l.what, cause, debug.Stack())
		}
	}()
	return l.get(ctx, keys)
}
