package loaders

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/graph-gophers/dataloader/v7"
)

// get fetches values by their keys, all different and at most batchCapacity. Those that do not exist are missing from the
// answer, those that could not be fetched are among the failed.
type get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// loader gathers the keys of one kind that are asked for within a moment, and remembers what was found.
type loader[K comparable, V any] struct {
	what    string // it loads, in the plural, for errors of ours
	get     get[K, V]
	batched *dataloader.Loader[K, *V]

	mu      sync.Mutex
	answers map[K]*answer[V]
}

// answer is what is found for a key. It is there once done is closed.
type answer[V any] struct {
	done  chan struct{}
	value *V // nil when there is none
	err   error
}

func newLoader[K comparable, V any](what string, get get[K, V]) *loader[K, V] {
	return &loader[K, V]{
		what: what,
		get:  get,
		batched: dataloader.NewBatchedLoader(
			batch(what, get),
			dataloader.WithWait[K, *V](wait),
			dataloader.WithBatchCapacity[K, *V](batchCapacity),
			// What the library remembers can be waited for by one goroutine at a time only, and failures stay in it.
			dataloader.WithCache[K, *V](&dataloader.NoCache[K, *V]{}),
		),
		answers: map[K]*answer[V]{},
	}
}

// expect has a key fetched along with others, unless it was already. A failure is not remembered: whoever asks after it
// makes a new attempt.
func (l *loader[K, V]) expect(ctx context.Context, key K) *answer[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.answers[key]; a != nil {
		return a
	}
	a := &answer[V]{done: make(chan struct{})}
	l.answers[key] = a
	thunk := l.batched.Load(ctx, key)
	go func() {
		if a.value, a.err = thunk(); a.err != nil {
			l.forget(key)
		}
		close(a.done)
	}()
	return a
}

func (l *loader[K, V]) forget(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.answers, key)
}

// load is the value of a key, nil when there is none. It waits no longer than the caller's context lasts.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	a := l.expect(ctx, key)
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// loadAll are the values of keys, if there is no failure among them.
func (l *loader[K, V]) loadAll(ctx context.Context, keys []K) (values []*V, whole bool) {
	answers := make([]*answer[V], len(keys))
	for i, key := range keys {
		answers[i] = l.expect(ctx, key)
	}
	for _, a := range answers {
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, false
		}
		if a.err != nil {
			return nil, false
		}
		values = append(values, a.value)
	}
	return values, true
}

// loadAlone is the value of a key that nothing else will be asked for with, fetched without waiting for others.
func (l *loader[K, V]) loadAlone(ctx context.Context, key K) (*V, error) {
	found, failed, err := fetch(ctx, l.what, l.get, []K{key})
	if err == nil {
		err = failed[key]
	}
	if value, ok := found[key]; ok && err == nil {
		return &value, nil
	}
	return nil, err
}

// batch turns a getter, which answers by key, into what the library wants: one result for each key, in their order, none
// of them nil.
func batch[K comparable, V any](what string, get get[K, V]) dataloader.BatchFunc[K, *V] {
	return func(ctx context.Context, keys []K) []*dataloader.Result[*V] {
		ctx, cancel := fetchContext(ctx)
		defer cancel()
		found, failed, err := fetch(ctx, what, get, keys)
		results := make([]*dataloader.Result[*V], len(keys))
		for i, key := range keys {
			results[i] = &dataloader.Result[*V]{Error: err}
			if err != nil {
				continue
			}
			results[i].Error = failed[key]
			if value, ok := found[key]; ok {
				results[i].Data = &value
			}
		}
		return results
	}
}

// fetch turns a panic of the getter into an error: the goroutine of a batch is the library's, and would end the process.
func fetch[K comparable, V any](ctx context.Context, what string, get get[K, V], keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), what, cause, debug.Stack())
		}
	}()
	return get(ctx, keys)
}

// fetchContext is the context of a batch. The library hands over that of the first caller, whose end must not fail the
// keys of the others.
func fetchContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
}
