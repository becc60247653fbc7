package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// Timely is an index that is kept in the transactions that count. It cannot miss what is counted, so
// all it needs is that counting is complete and not late.
type Timely struct {
	index  pageindex.Index
	status *cached[storeStatus]
	lag    time.Duration
}

// NewTimely makes an index that answers as another, with the default pace of a Keeper.
func NewTimely(index pageindex.Index, counted CountProgress) *Timely {
	pace := DefaultPace()
	return &Timely{index: index, lag: pace.Lag, status: newCached(pace.Look, func(ctx context.Context) (storeStatus, error) {
		state, leases, err := counted.Current(ctx)
		now := storeStatus{state: state}
		now.upTo, now.known = stream.ProcessedUpTo(leases)
		now.store.Moments = "now"
		now.covers = at(now.store.Token(state), "now") // there is nothing that it could lack
		return now, err
	})}
}

// Find implements pageindex.Index. The error is of the kind Unavailable while not all comments are
// counted, and while counting is late.
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

// Lag returns how far the store is behind the comments, and whether it answers: whether it is
// complete, and not too late. Within some seconds it asks nothing anew. known is false if it is not
// known how far counting is.
func (k *Keeper) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	return lagOf(ctx, k.seen, k.Pace.Lag)
}

// Lag does the same for an index that cannot miss what is counted.
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
