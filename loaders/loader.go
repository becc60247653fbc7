package loaders

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
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

// loader batches the keys of one kind that are asked for within a millisecond, and caches their
// values: nil for a key without one.
type loader[K comparable, V any] struct {
	*dataloader.Loader[K, *V]
	answers *answers[K, *V]
}

// newLoader returns a loader. what names its values, in the plural. observe, if not nil, is called
// with the size of each batch.
func newLoader[K comparable, V any](what string, get get[K, V], observe func(what string, keys int)) loader[K, V] {
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
func recovered[K comparable, V any](ctx context.Context, what string, get get[K, V], keys []K) (found map[K]V, failed map[K]error, err error) {
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
