package loaders

import (
	"cmp"
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
//
// The library gathers them: it has a batch fetched after a moment, or as soon as it is full. It gives answers by functions
// that cannot be left once they wait, keeps failures, and takes a goroutine with a timer for each batch. So answers are kept here,
// and keys that are all there will be, as whoever asks for them can know, are not gathered but noted: the first who waits for any of
// them fetches all, in his own goroutine.
type loader[K comparable, V any] struct {
	what string // it loads, in the plural, for errors of ours
	get  get[K, V]

	mu      sync.Mutex
	batched *dataloader.Loader[K, struct{}] // nil before anything was gathered: most requests gather nothing
	answers map[K]*answer[V]
	noted   []K // keys of answers that nobody fetches yet; at most batchCapacity
}

// answer is what is found for a key. It is there once done is closed.
type answer[V any] struct {
	done  chan struct{}
	found bool // whether there is a value
	value V
	err   error
}

func newLoader[K comparable, V any](what string, get get[K, V]) *loader[K, V] {
	return &loader[K, V]{what: what, get: get, answers: map[K]*answer[V]{}}
}

// gather has the library fetch a key along with others.
func (l *loader[K, V]) gather(ctx context.Context, key K) {
	if l.batched == nil {
		l.batched = dataloader.NewBatchedLoader(
			l.batch,
			dataloader.WithWait[K, struct{}](wait),
			dataloader.WithBatchCapacity[K, struct{}](batchCapacity),
			dataloader.WithCache[K, struct{}](&dataloader.NoCache[K, struct{}]{}),
		)
	}
	l.batched.Load(ctx, key)
}

// expect has a key fetched along with others, unless it was already. A failure is not remembered: whoever asks after it
// makes a new attempt.
func (l *loader[K, V]) expect(ctx context.Context, key K) *answer[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.answer(key)
	if !known {
		l.gather(ctx, key)
	}
	return a
}

// note has a key fetched by the first who waits for anything, unless it is fetched already.
func (l *loader[K, V]) note(ctx context.Context, keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if _, known := l.answer(key); known {
			continue
		}
		if len(l.noted) == batchCapacity {
			l.gather(ctx, key)
			continue
		}
		l.noted = append(l.noted, key)
	}
}

// answer is the answer of a key, a new one if nobody knows it yet.
func (l *loader[K, V]) answer(key K) (a *answer[V], known bool) {
	if a = l.answers[key]; a != nil {
		return a, true
	}
	a = &answer[V]{done: make(chan struct{})}
	l.answers[key] = a
	return a, false
}

// load is the value of a key, nil when there is none. It waits no longer than the caller's context lasts.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	a := l.expect(ctx, key)
	l.fetchNoted(ctx)
	return a.wait(ctx)
}

// loadAll are the values of keys, if there is no failure among them.
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

// fetchNoted fetches what was noted. It ends with the caller's request, of which all are who could wait for it.
func (l *loader[K, V]) fetchNoted(ctx context.Context) {
	if keys := l.takeNoted(); len(keys) > 0 {
		l.fetch(ctx, keys)
	}
}

// beginNoted has what was noted fetched beside whatever the caller does.
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

// batch is what the library calls with the keys that it gathered. It hands over the context of the first who asked, whose end
// must not fail the keys of the others. It wants as many results as there are keys, at which nobody looks.
func (l *loader[K, V]) batch(ctx context.Context, keys []K) []*dataloader.Result[struct{}] {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	l.fetch(ctx, keys)
	return make([]*dataloader.Result[struct{}], len(keys))
}

// fetch fetches keys, and gives the answers to those who wait for them.
func (l *loader[K, V]) fetch(ctx context.Context, keys []K) {
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

// tryGet turns a panic of the getter into an error: the goroutine may be the library's or one of ours, and would end the process.
func (l *loader[K, V]) tryGet(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), l.what, cause, debug.Stack())
		}
	}()
	return l.get(ctx, keys)
}
