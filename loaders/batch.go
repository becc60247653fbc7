package loaders

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/graph-gophers/dataloader/v7"
)

// get fetches values by their keys, all different and at most batchCapacity. Those that do not exist are missing from the
// answer, those that could not be fetched are among the failed.
type get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// loader gathers the keys of one kind that are asked for within a moment, and remembers what was found.
type loader[K comparable, V any] struct {
	batched *dataloader.Loader[K, *V]
}

// newLoader makes a loader. What says what it loads, in the plural, for errors of ours.
func newLoader[K comparable, V any](what string, get get[K, V]) loader[K, V] {
	return loader[K, V]{batched: dataloader.NewBatchedLoader(
		batch(what, get),
		dataloader.WithWait[K, *V](wait),
		dataloader.WithBatchCapacity[K, *V](batchCapacity),
	)}
}

// expect has a key fetched soon, for those who will load it later.
func (l loader[K, V]) expect(ctx context.Context, key K) { l.batched.Load(ctx, key) }

// load is the value of a key, nil when there is none. A failure is not remembered: whoever asks again makes a new attempt.
func (l loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	thunk := l.batched.Load(ctx, key)
	return await(ctx, func() (*V, error) {
		value, err := thunk()
		if err != nil {
			l.batched.Clear(ctx, key)
		}
		return value, err
	})
}

// await waits for the answer of a batch no longer than the caller's context lasts; the library alone would.
func await[V any](ctx context.Context, thunk dataloader.Thunk[V]) (V, error) {
	type answer struct {
		value V
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := thunk()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
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
