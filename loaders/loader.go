package loaders

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
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
type loader[K comparable, V any] struct {
	*dataloader.Loader[K, *V]
	answers *answers[K, *V]
}

// newLoader returns a loader. what names its values, in the plural. observe, if not nil, is called
// with the size of each batch.
func newLoader[K comparable, V any](what string, get Get[K, V], observe func(what string, keys int)) loader[K, V] {
	fetch := func(ctx context.Context, keys []K) []*dataloader.Result[*V] {
		if observe != nil {
			observe(what, len(keys))
		}
		// The context is the first caller's. Its end must not fail the keys of other callers.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		defer cancel()
		found, failed, err := recovered(ctx, what, get, keys)
		results, all := make([]*dataloader.Result[*V], len(keys)), make([]dataloader.Result[*V], len(keys))
		for i, key := range keys {
			results[i], all[i].Error = &all[i], cmp.Or(err, failed[key])
			if value, exists := found[key]; exists {
				all[i].Data = &value
			}
		}
		return results
	}
	cache := &answers[K, *V]{known: map[K]*answer[*V]{}}
	return loader[K, V]{
		dataloader.NewBatchedLoader(
			fetch,
			dataloader.WithWait[K, *V](wait),
			dataloader.WithBatchCapacity[K, *V](batchCapacity),
			dataloader.WithCache[K, *V](cache),
		),
		cache,
	}
}

// recovered turns a panic of get into an error, which the dataloader would write to its own log.
func recovered[K comparable, V any](ctx context.Context, what string, get Get[K, V], keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), what, cause, debug.Stack())
		}
	}()
	return get(ctx, keys)
}

// ask starts to fetch a key unless it is cached or on its way, and returns its answer.
func (l loader[K, V]) ask(ctx context.Context, key K) *answer[*V] {
	for {
		if a := l.answers.of(key); a != nil {
			return a
		}
		l.Load(ctx, key) // the loop fetches again if it fails before of finds it
	}
}

// load returns the value of a key, nil if there is none. A failure is not cached: the next call
// tries again.
func (l loader[K, V]) load(ctx context.Context, key K) (*V, error) { return l.ask(ctx, key).wait(ctx) }

// answers is the dataloader's cache. The dataloader's thunks take no context and keep failures. So
// one goroutine waits for each thunk, any number of callers wait for its answer until their
// contexts end, and failures are dropped.
type answers[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]*answer[V]
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

// of returns the answer of a key, nil if nobody loaded the key or loading failed.
func (c *answers[K, V]) of(key K) *answer[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

// await waits for the answers that are under way, until the context ends.
func (c *answers[K, V]) await(ctx context.Context) {
	c.mu.Lock()
	known := slices.Collect(maps.Values(c.known))
	c.mu.Unlock()
	for _, a := range known {
		_, _ = a.wait(ctx)
	}
}

// Get implements [dataloader.Cache].
func (c *answers[K, V]) Get(_ context.Context, key K) (dataloader.Thunk[V], bool) {
	a := c.of(key)
	if a == nil {
		return nil, false
	}
	return func() (V, error) { return a.wait(context.Background()) }, true
}

// Set implements [dataloader.Cache].
func (c *answers[K, V]) Set(ctx context.Context, key K, thunk dataloader.Thunk[V]) {
	a := &answer[V]{done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = a
	go func() {
		defer close(a.done)
		if a.value, a.err = thunk(); a.err != nil {
			c.Delete(ctx, key)
		}
	}()
}

// Delete implements [dataloader.Cache].
func (c *answers[K, V]) Delete(_ context.Context, key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.known[key]
	delete(c.known, key)
	return known
}

// Clear implements [dataloader.Cache].
func (c *answers[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
}
