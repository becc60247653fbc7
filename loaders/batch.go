package loaders

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// get fetches values by their keys, all different and at most batchCapacity. Those that do not exist are missing from the
// answer, those that could not be fetched are among the failed.
type get[K comparable, V any] func(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error)

// loader gathers the keys of one kind that are asked for within a moment, and remembers what was found.
type loader[K comparable, V any] struct {
	what string // it loads, in the plural, for errors of ours
	get  get[K, V]

	mu        sync.Mutex
	answers   map[K]*answer[V]
	gathering *batch[K, V] // nil while no key waits
}

// answer is what comes of a key. It is there once ready is closed.
type answer[V any] struct {
	ready <-chan struct{}
	value *V // nil when there is none
	err   error
}

// batch is keys that are fetched together, each with its answer.
type batch[K comparable, V any] struct {
	keys    []K
	answers []*answer[V]
	ready   chan struct{}
}

func newLoader[K comparable, V any](what string, get get[K, V]) *loader[K, V] {
	return &loader[K, V]{what: what, get: get, answers: map[K]*answer[V]{}}
}

// expect has keys fetched soon, for those who will load them later. If no others are to come, that is at once.
func (l *loader[K, V]) expect(ctx context.Context, complete bool, keys ...K) {
	for _, key := range keys {
		l.ask(ctx, key)
	}
	if complete {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.send(ctx, l.gathering)
	}
}

// load is the value of a key, nil when there is none. It waits no longer than the caller's context lasts. A failure is not
// remembered: whoever asks again makes a new attempt.
func (l *loader[K, V]) load(ctx context.Context, key K) (*V, error) {
	a := l.ask(ctx, key)
	select {
	case <-a.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.err != nil {
		l.forget(key, a)
	}
	return a.value, a.err
}

// loadAll are the values of keys, if there is no failure among them. One is remembered until it is loaded by itself.
func (l *loader[K, V]) loadAll(ctx context.Context, keys []K) (values []*V, whole bool) {
	answers := make([]*answer[V], len(keys))
	for i, key := range keys {
		answers[i] = l.ask(ctx, key)
	}
	for _, a := range answers {
		select {
		case <-a.ready:
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
	b := &batch[K, V]{}
	a := b.add(key)
	l.fill(ctx, b)
	return a.value, a.err
}

// ask is the answer to a key, which is fetched with others unless it was already.
func (l *loader[K, V]) ask(ctx context.Context, key K) *answer[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.answers[key]; a != nil {
		return a
	}
	if l.gathering == nil {
		b := &batch[K, V]{ready: make(chan struct{})}
		l.gathering = b
		time.AfterFunc(wait, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.send(ctx, b)
		})
	}
	a := l.gathering.add(key)
	l.answers[key] = a
	if len(l.gathering.keys) == batchCapacity {
		l.send(ctx, l.gathering)
	}
	return a
}

// forget lets the next who asks for a key make a new attempt.
func (l *loader[K, V]) forget(key K, a *answer[V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers[key] == a {
		delete(l.answers, key)
	}
}

// send has a batch fetched if it is still gathering. The loader is locked. The batch belongs to all who asked: the end of
// the first one's context must not fail the keys of the others.
func (l *loader[K, V]) send(ctx context.Context, b *batch[K, V]) {
	if b == nil || l.gathering != b {
		return
	}
	l.gathering = nil
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
		defer cancel()
		l.fill(ctx, b)
		close(b.ready)
	}()
}

func (b *batch[K, V]) add(key K) *answer[V] {
	a := &answer[V]{ready: b.ready}
	b.keys, b.answers = append(b.keys, key), append(b.answers, a)
	return a
}

// fill fetches the answers of a batch.
func (l *loader[K, V]) fill(ctx context.Context, b *batch[K, V]) {
	found, failed, err := l.fetch(ctx, b.keys)
	for i, key := range b.keys {
		a := b.answers[i]
		if a.err = err; err != nil {
			continue
		}
		a.err = failed[key]
		if value, ok := found[key]; ok {
			a.value = &value
		}
	}
}

// fetch turns a panic of the getter into an error: the goroutine of a batch is ours, and a panic would end the process.
func (l *loader[K, V]) fetch(ctx context.Context, keys []K) (found map[K]V, failed map[K]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d %s: %v\n%s", len(keys), l.what, cause, debug.Stack())
		}
	}()
	return l.get(ctx, keys)
}
