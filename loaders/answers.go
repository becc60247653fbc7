package loaders

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/graph-gophers/dataloader/v7"
)

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
