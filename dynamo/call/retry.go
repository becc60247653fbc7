package call

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/talkback/talkback/comment"
)

// Bulk work that gets no further is tried this often, with waits that double from the first up to the longest and are
// drawn at random up to their full length: about 20 s in all. A try that brought anything starts the count anew.
const (
	persistTries       = 12
	persistFirstWait   = 50 * time.Millisecond
	persistLongestWait = 5 * time.Second
)

// Retry tries until there is no error, or one that waiting does not mend. The try tells whether it got any further.
func Retry(ctx context.Context, try func() (further bool, err error)) error {
	for fruitless := 0; ; {
		further, err := try()
		if err == nil {
			return nil
		}
		if fruitless++; further {
			fruitless = 0
		}
		if !Transient(err) || fruitless == persistTries {
			return err
		}
		if err := pause(ctx, min(persistFirstWait<<fruitless, persistLongestWait)); err != nil {
			return err
		}
	}
}

// Transient tells whether an error may be gone when the same is tried again. An answer that could not be read was broken on
// its way.
func Transient(err error) bool {
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return false
	}
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout:
		return true
	}
	return unreadable(err)
}

// unreadable tells whether an answer came and could not be read.
func unreadable(err error) bool {
	var broken *smithy.DeserializationError
	return errors.As(err, &broken)
}

// pause waits for a random time up to the longest, or until the context ends. Randomness keeps callers that were turned
// away together from coming back together: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
func pause(ctx context.Context, longest time.Duration) error {
	return Wait(ctx, rand.N(longest))
}

// Wait waits for the whole of a time, or until the context ends.
func Wait(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
