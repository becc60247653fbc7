package stream

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
)

// Waits after errors double from first to longest. Each is drawn from the upper half of its length.
const (
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 5 * time.Second
)

// shared has the options of a Consumer, with defaults filled in, for its worker and readers.
type shared struct {
	losses
	source  Source
	leases  Leases
	handler Handler
	onGap   func(Gap)
	number  func() int // of the shards that this process reads

	// me is this process's name as an owner of leases.
	me                      string
	poll, heartbeat, expiry time.Duration
	// random returns a random duration from 0 up to its argument.
	random func(time.Duration) time.Duration
}

// report logs an error that is retried, once in each series of failures.
func (s *shared) report(ctx context.Context, failures int, err error, what string, args ...any) {
	if failures == 3 && ctx.Err() == nil {
		s.logger.Warn(what+", and is tried again", append(args, "kind", int(comment.KindOf(err)), "error", err)...)
	}
}

// gap records a gap durably, then reports it.
func (s *shared) gap(ctx context.Context, gap Gap) error {
	if err := s.recordGap(ctx, gap); err != nil {
		return err
	}
	s.tell(gap)
	return nil
}

// tell logs a recorded gap, and calls the Consumer's OnGap.
func (s *shared) tell(gap Gap) {
	s.logger.Error("counts may be wrong until everything is counted again",
		"shard", gap.Shard, "reason", gap.Reason)
	if s.onGap != nil {
		s.onGap(gap)
	}
}

// backoff returns the wait after some failures in a row.
func (s *shared) backoff(failures int) time.Duration {
	longest := min(firstBackoff<<min(failures-1, 16), longestBackoff)
	return longest/2 + s.random(longest/2)
}

// spread varies a wait, so that processes that started together do not stay in step.
func (s *shared) spread(d time.Duration) time.Duration {
	return d - d/8 + s.random(d/4)
}
