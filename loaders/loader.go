package loaders

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"github.com/talkback/talkback/internal/task"
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

// Get fetches values by their keys, which are distinct and at most 100. Values that do not exist are in
// neither result; those that could not be fetched are in failed.
type Get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// whole makes a Get of a function that fetches all values or fails.
func whole[K comparable, V any](get func(context.Context, []K) (map[K]V, error)) Get[K, V] {
	return func(ctx context.Context, keys []K) (map[K]V, map[K]error, error) {
		found, err := get(ctx, keys)
		return found, nil, err
	}
}

// loader batches the keys of one kind that are asked for within a millisecond, and caches their
// values: nil for a key without one.
//
// It is the cache of its dataloader, which it makes when the first key is asked for: an operation
// uses few of its loaders. The dataloader's thunks take no context and keep failures. So one
// goroutine waits for each thunk, any number of callers wait for its answer until their contexts
// end, and failures are dropped.
type loader[K comparable, V any] struct {
	what    string // the values, in the plural
	get     Get[K, V]
	observe func(what string, keys int) // is called with the size of each batch, if not nil

	made    sync.Once
	batches *dataloader.Loader[K, *V]

	mu    sync.Mutex
	known map[K]*answer[*V]
}

// begin sets what the loader fetches, and how.
func (l *loader[K, V]) begin(what string, get Get[K, V], observe func(what string, keys int)) {
	l.what, l.get, l.observe = what, get, observe
}

// answer is what a thunk returned, once done is closed.
type answer[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func (a *answer[V]) wait(ctx context.Context) (V, error) {
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// ask starts to fetch a key unless it is cached or on its way, and returns its answer.
func (l *loader[K, V]) ask(ctx context.Context, key K) *answer[*V] {
	l.made.Do(func() {
		l.batches = dataloader.NewBatchedLoader(
			l.fetch,
			dataloader.WithWait[K, *V](wait),
			dataloader.WithBatchCapacity[K, *V](batchCapacity),
			dataloader.WithCache[K, *V](l),
		)
	})
	for {
		if a := l.of(key); a != nil {
			return a
		}
		l.batches.Load(ctx, key) // the loop fetches again if it fails before of finds it
	}
}

// load returns the value of a key, nil if there is none. A failure is not cached: the next call
// tries again.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) { return l.ask(ctx, key).wait(ctx) }

// fetch fetches a batch. The context is the first caller's. Its end must not fail the keys of other
// callers.
func (l *loader[K, V]) fetch(ctx context.Context, keys []K) []*dataloader.Result[*V] {
	if l.observe != nil {
		l.observe(l.what, len(keys))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	var found map[K]V
	var failed map[K]error
	err := task.Guard(func() (err error) { // the dataloader would write a panic to its own log
		found, failed, err = l.get(ctx, keys)
		return err
	})
	results, all := make([]*dataloader.Result[*V], len(keys)), make([]dataloader.Result[*V], len(keys))
	for i, key := range keys {
		results[i], all[i].Error = &all[i], cmp.Or(err, failed[key])
		if value, exists := found[key]; exists {
			all[i].Data = &value
		}
	}
	return results
}

// of returns the answer of a key, nil if nobody loaded the key or loading failed.
func (l *loader[K, V]) of(key K) *answer[*V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[key]
}

// offer caches a value that came otherwise, unless there is one or it is being fetched.
func (l *loader[K, V]) offer(key K, value *V) {
	if l.of(key) == nil {
		l.put(key, value)
	}
}

// put caches a value in place of any other.
func (l *loader[K, V]) put(key K, value *V) {
	l.Set(context.Background(), key, func() (*V, error) { return value, nil })
}

// await waits for the answers that are under way, until the context ends.
func (l *loader[K, V]) await(ctx context.Context) {
	l.mu.Lock()
	known := slices.Collect(maps.Values(l.known))
	l.mu.Unlock()
	for _, a := range known {
		_, _ = a.wait(ctx)
	}
}

// Get implements [dataloader.Cache].
func (l *loader[K, V]) Get(_ context.Context, key K) (dataloader.Thunk[*V], bool) {
	a := l.of(key)
	if a == nil {
		return nil, false
	}
	return func() (*V, error) { return a.wait(context.Background()) }, true
}

// Set implements [dataloader.Cache].
func (l *loader[K, V]) Set(_ context.Context, key K, thunk dataloader.Thunk[*V]) {
	a := &answer[*V]{done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[K]*answer[*V]{}
	}
	l.known[key] = a
	go func() {
		defer close(a.done)
		if a.value, a.err = thunk(); a.err == nil {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.known[key] == a { // else put has replaced it
			delete(l.known, key)
		}
	}()
}

// Delete implements [dataloader.Cache].
func (l *loader[K, V]) Delete(_ context.Context, key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.known[key]
	delete(l.known, key)
	return known
}

// Clear implements [dataloader.Cache].
func (l *loader[K, V]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.known)
}
