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
	// batchTimeout bounds a batch, which may outlive the field that began it.
	batchTimeout = 10 * time.Second
)

// get fetches values by their keys, which are distinct and at most batchCapacity. Values that do
// not exist are in neither result; those that could not be fetched are in failed.
type get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// loader batches the keys of one kind that are asked for within a millisecond, and keeps what was
// found: nil for a key without a value.
//
// The library makes the batches. Its thunks know no context, and its cache keeps failures. So a batch
// gives the answers itself. Any number of callers wait for one until their contexts end, and a
// failure is forgotten.
type loader[K comparable, V any] struct {
	what    string // is fetched, in the plural
	get     get[K, V]
	observe func(what string, keys int) // the size of each batch; may be nil

	mu      sync.Mutex
	known   map[K]*answer[*V]
	batches *dataloader.Loader[request[K, V], struct{}] // nil before the first key
}

// newLoader returns a loader. Each request has all of them and uses one or none, so what a loader
// needs is made for its first key.
func newLoader[K comparable, V any](what string, get get[K, V], observe func(what string, keys int)) *loader[K, V] {
	return &loader[K, V]{what: what, get: get, observe: observe}
}

// request is a key that is to be fetched, for its answer.
type request[K comparable, V any] struct {
	key    K
	answer *answer[*V]
}

// answer is what was found, once done is closed.
type answer[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func newAnswer[V any]() *answer[V] { return &answer[V]{done: make(chan struct{})} }

func (a *answer[V]) wait(ctx context.Context) (V, error) {
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// of returns the answer of a key, nil if it was never asked for, or failed.
func (l *loader[K, V]) of(key K) *answer[*V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[key]
}

// ask fetches a key, unless that is under way or done.
func (l *loader[K, V]) ask(ctx context.Context, key K) *answer[*V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.known[key]
	if a == nil {
		a = newAnswer[*V]()
		l.keep(key, a)
		l.batches.Load(ctx, request[K, V]{key, a})
	}
	return a
}

// keep keeps an answer. The caller holds the lock.
func (l *loader[K, V]) keep(key K, a *answer[*V]) {
	if l.known == nil {
		l.known = map[K]*answer[*V]{}
		l.batches = dataloader.NewBatchedLoader(l.batch,
			dataloader.WithWait[request[K, V], struct{}](wait),
			dataloader.WithBatchCapacity[request[K, V], struct{}](batchCapacity),
			dataloader.WithInputCapacity[request[K, V], struct{}](batchCapacity),
			dataloader.WithCache(&dataloader.NoCache[request[K, V], struct{}]{}))
	}
	l.known[key] = a
}

// put keeps a value, in place of what was found before.
func (l *loader[K, V]) put(key K, value *V) {
	a := newAnswer[*V]()
	a.value = value
	close(a.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(key, a)
}

// load returns the value of a key, nil if there is none. A failure is not kept: the next call makes
// a new attempt.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) { return l.ask(ctx, key).wait(ctx) }

// batch fetches a batch. Its context is that of the first caller, whose end must not fail the keys
// of the others. Nobody asks the library for its results.
func (l *loader[K, V]) batch(ctx context.Context, requests []request[K, V]) []*dataloader.Result[struct{}] {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	keys := make([]K, len(requests))
	for i, r := range requests {
		keys[i] = r.key
	}
	if l.observe != nil {
		l.observe(l.what, len(keys))
	}
	found, failed, err := l.recovered(ctx, keys)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range requests {
		if value, exists := found[r.key]; exists {
			r.answer.value = &value
		}
		if r.answer.err = cmp.Or(err, failed[r.key]); r.answer.err != nil && l.known[r.key] == r.answer {
			delete(l.known, r.key)
		}
		close(r.answer.done)
	}
	return make([]*dataloader.Result[struct{}], len(requests))
}

// recovered turns a panic into an error. The library would write it to its own log.
func (l *loader[K, V]) recovered(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), l.what, cause, debug.Stack())
		}
	}()
	return l.get(ctx, keys)
}
