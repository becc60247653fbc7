package keeper

import (
	"context"
	"time"
)

// Lag returns how far the store is behind the comments, and whether it answers: whether it is
// complete, and not too late. Within some seconds it asks nothing anew. known is false if it is not
// known how far counting is.
func (k *Keeper) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	return lagOf(ctx, k.seen, k.Pace.Lag)
}

// Lag does the same for an index that cannot miss what is counted.
func (t *Timely) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	return lagOf(ctx, t.counted, t.lag)
}

func lagOf(ctx context.Context, seen *cached[sight], most time.Duration) (lag time.Duration, known, answers bool) {
	s, err := seen.get(ctx)
	if err != nil {
		return 0, false, false
	}
	now := time.Now()
	return max(0, now.Sub(s.upTo)), s.known, s.objection(now, most) == nil
}
