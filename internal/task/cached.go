package task

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// Elapsed returns the time from a moment until now, by the clock that shows more. The monotonic
// clock may stop while the machine is suspended, and the wall clock may jump back.
func Elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since))
}

// Cached caches a value for a while. One goroutine reads it, and others wait. Safe for concurrent
// use.
type Cached[T any] struct {
	// Age is the maximum time since the read of a cached value began.
	Age time.Duration

	read  func(context.Context) (T, error)
	turn  *semaphore.Weighted // taken while it is read; guards the fields below
	value T
	since time.Time // when the read began; zero for none
}

// NewCached returns a Cached without a value.
func NewCached[T any](age time.Duration, read func(context.Context) (T, error)) *Cached[T] {
	return &Cached[T]{Age: age, read: read, turn: semaphore.NewWeighted(1)}
}

// Get returns a value whose read began less than Age ago. Errors are not cached.
func (c *Cached[T]) Get(ctx context.Context) (T, error) { return c.GetBy(ctx, c.read) }

// GetBy is Get with another read function.
func (c *Cached[T]) GetBy(ctx context.Context, read func(context.Context) (T, error)) (value T, err error) {
	if err := c.turn.Acquire(ctx, 1); err != nil {
		return value, err
	}
	defer c.turn.Release(1)
	began := time.Now()
	if !c.since.IsZero() && Elapsed(c.since, began) < c.Age {
		return c.value, nil
	}
	if value, err = read(ctx); err == nil {
		c.value, c.since = value, began
	}
	return value, err
}

// Forget drops the value, so that the next caller reads it again.
func (c *Cached[T]) Forget() {
	_ = c.turn.Acquire(context.Background(), 1) // which never ends
	defer c.turn.Release(1)
	c.since = time.Time{}
}
