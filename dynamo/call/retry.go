package call

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// Bulk work is tried this often without progress. Waits double from the first up to the longest,
// and each is drawn at random up to its full length: about 20 s in all.
const (
	retryTries       = 12
	retryFirstWait   = 50 * time.Millisecond
	retryLongestWait = 5 * time.Second
)

// Retry calls try until it succeeds, fails with an error that is not Transient, or made no progress
// in 12 calls in a row. try reports whether it made progress.
func Retry(ctx context.Context, try func() (progress bool, err error)) error {
	for fruitless := 0; ; {
		progress, err := try()
		if err == nil {
			return nil
		}
		if fruitless++; progress {
			fruitless = 0
		}
		if !Transient(err) || fruitless == retryTries {
			return err
		}
		if err := pause(ctx, min(retryFirstWait<<fruitless, retryLongestWait)); err != nil {
			return err
		}
	}
}

// Retried returns what fetch returns, and calls it as Retry does.
func Retried[T any](ctx context.Context, fetch func() (T, error)) (fetched T, err error) {
	err = Retry(ctx, func() (progress bool, err error) {
		fetched, err = fetch()
		return false, err
	})
	return fetched, err
}

// pause waits for a random time up to the longest, or until the context ends. Randomness keeps
// callers that were throttled together from retrying together:
// https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
func pause(ctx context.Context, longest time.Duration) error {
	return task.Wait(ctx, rand.N(longest))
}
