package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// Timely is an index that the counting transactions update. It cannot miss comments, so it only
// requires that counting is complete and not late.
type Timely struct {
	index  pageindex.Index
	status *cached[storeStatus]
	lag    time.Duration
}

// NewTimely wraps an index, with the default pace of a Keeper.
func NewTimely(index pageindex.Index, counted CountProgress) *Timely {
	pace := DefaultPace()
	return &Timely{index: index, lag: pace.Lag, status: newCached(pace.Look, func(ctx context.Context) (storeStatus, error) {
		state, leases, err := counted.Current(ctx)
		now := storeStatus{state: state}
		now.upTo, now.known = stream.ProcessedUpTo(leases)
		now.store.Moments = "now"
		now.covers = at(now.store.Token(state), "now") // it cannot lack anything
		return now, err
	})}
}

// Find implements pageindex.Index. The error is of the kind Unavailable while counting is
// incomplete or late.
func (t *Timely) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	now, err := t.status.get(ctx)
	if err == nil {
		err = now.objection(time.Now(), t.lag)
	}
	if err != nil {
		return pageindex.Found{}, err
	}
	return t.index.Find(ctx, list, targets)
}

// Lag returns how far the store lags behind the comments, and whether it answers: whether it is
// complete, and not too late. It uses information up to some seconds old. known is false if the
// progress of counting is unknown.
func (k *Keeper) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	return lagOf(ctx, k.seen, k.Pace.Lag)
}

// Lag is like Keeper.Lag.
func (t *Timely) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	return lagOf(ctx, t.status, t.lag)
}

func lagOf(ctx context.Context, seen *cached[storeStatus], most time.Duration) (lag time.Duration, known, answers bool) {
	s, err := seen.get(ctx)
	if err != nil {
		return 0, false, false
	}
	now := time.Now()
	return max(0, now.Sub(s.upTo)), s.known, s.objection(now, most) == nil
}
