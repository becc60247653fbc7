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

// Get fetches values by their keys, which are distinct and at most 100. Values that do not exist
// are in neither result; those that could not be fetched are in failed.
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
// uses few of its loaders. The dataloader's thunks take no context and keep failures, so nobody
// calls them: fetch itself settles answers. Any number of callers wait for one until their contexts
// end, and failures are dropped.
type loader[K comparable, V any] struct {
	what    string // the values, in the plural
	get     Get[K, V]
	observe func(what string, keys int) // is called with the size of each batch, if not nil

	made    sync.Once
	batches *dataloader.Loader[K, struct{}]

	mu    sync.Mutex
	known map[K]*answer[*V]
}

// begin sets what the loader fetches, and how.
func (l *loader[K, V]) begin(what string, get Get[K, V], observe func(what string, keys int)) {
	l.what, l.get, l.observe = what, get, observe
}

// answer is what was fetched, once done is closed.
type answer[V any] struct {
	done    chan struct{}
	settled bool // whether done is closed, for those who hold the lock of a loader
	value   V
	err     error
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
			dataloader.WithWait[K, struct{}](wait),
			dataloader.WithBatchCapacity[K, struct{}](batchCapacity),
			dataloader.WithCache[K, struct{}](l),
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
func (l *loader[K, V]) fetch(ctx context.Context, keys []K) []*dataloader.Result[struct{}] {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	var found map[K]V
	var failed map[K]error
	err := task.Guard(func() (err error) { // the dataloader would write a panic to its own log
		if l.observe != nil {
			l.observe(l.what, len(keys))
		}
		found, failed, err = l.get(ctx, keys)
		return err
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		var fetched *V
		if value, exists := found[key]; exists {
			fetched = &value
		}
		l.settle(key, fetched, cmp.Or(err, failed[key]))
	}
	return make([]*dataloader.Result[struct{}], len(keys)) // of thunks, which nobody calls
}

// settle ends the waiting for a key, unless put came first. A failure is forgotten. Callers hold
// mu.
func (l *loader[K, V]) settle(key K, value *V, err error) {
	a := l.known[key]
	if a.settled {
		return
	}
	if a.settled, a.value, a.err = true, value, err; err != nil {
		delete(l.known, key)
	}
	close(a.done)
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

// put caches a value in place of any other, and of one that is being fetched.
func (l *loader[K, V]) put(key K, value *V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.known[key]; a == nil || a.settled {
		l.expect(key)
	}
	l.settle(key, value, nil)
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
func (l *loader[K, V]) Get(_ context.Context, key K) (dataloader.Thunk[struct{}], bool) {
	return nil, l.of(key) != nil
}

// expect caches that a key is waited for. Callers hold mu.
func (l *loader[K, V]) expect(key K) {
	if l.known == nil {
		l.known = map[K]*answer[*V]{}
	}
	l.known[key] = &answer[*V]{done: make(chan struct{})}
}

// Set implements [dataloader.Cache]. It begins to wait for a key, which is fetched next.
func (l *loader[K, V]) Set(_ context.Context, key K, _ dataloader.Thunk[struct{}]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[key] == nil { // else put came first
		l.expect(key)
	}
}

// Delete implements [dataloader.Cache]. No thunk is called, so none asks for it.
func (l *loader[K, V]) Delete(context.Context, K) bool { return false }

// Clear implements [dataloader.Cache], for a dataloader with another option.
func (l *loader[K, V]) Clear() {}
