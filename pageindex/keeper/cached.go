package keeper

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// cached caches a value for a while. One goroutine reads it, and others wait.
type cached[T any] struct {
	age  time.Duration
	read func(context.Context) (T, error)

	turn  *semaphore.Weighted // taken while it is read; guards the fields below
	value T
	since time.Time // when the read began; zero for none
}

func newCached[T any](age time.Duration, read func(context.Context) (T, error)) *cached[T] {
	return &cached[T]{age: age, read: read, turn: semaphore.NewWeighted(1)}
}

// get returns a value whose read began less than age ago. Errors are not cached.
func (c *cached[T]) get(ctx context.Context) (T, error) { return c.getBy(ctx, c.read) }

// getBy is get with another read function.
func (c *cached[T]) getBy(ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	var none T
	if err := c.turn.Acquire(ctx, 1); err != nil {
		return none, err
	}
	defer c.turn.Release(1)
	began := time.Now()
	// The monotonic clock may stop while the machine is suspended, and the wall clock may jump
	// back.
	if !c.since.IsZero() && max(began.Sub(c.since), began.Round(0).Sub(c.since)) < c.age {
		return c.value, nil
	}
	value, err := read(ctx)
	if err != nil {
		return none, err
	}
	c.value, c.since = value, began
	return value, nil
}

// forget drops the value, so that the next caller reads it again.
func (c *cached[T]) forget() {
	_ = c.turn.Acquire(context.Background(), 1) // which never ends
	defer c.turn.Release(1)
	c.since = time.Time{}
}
