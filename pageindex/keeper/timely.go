package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/pageindex"
)

// Timely is an index that the counting transactions update. It cannot miss comments, so it only
// requires that counting is complete and not late.
type Timely struct {
	watch
	index pageindex.Index
}

// NewTimely wraps an index, with the default pace of a Keeper.
func NewTimely(index pageindex.Index, counted CountProgress) *Timely {
	pace := DefaultPace()
	return &Timely{index: index, watch: watch{lag: pace.Lag, seen: newCached(pace.Look, func(ctx context.Context) (storeStatus, error) {
		now, err := countStatus(ctx, counted)
		now.store.Moments = "now"
		now.covers = at(now.store.Token(now.state), "now") // it cannot lack anything
		return now, err
	})}}
}

// Find implements pageindex.Index. The error is of the kind Unavailable while counting is
// incomplete or late.
func (t *Timely) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	now, err := t.seen.get(ctx)
	if err == nil {
		err = now.objection(time.Now(), t.lag)
	}
	if err != nil {
		return pageindex.Found{}, err
	}
	return t.index.Find(ctx, list, targets)
}

// watch is a recent status of a store.
type watch struct {
	seen *cached[storeStatus]
	lag  time.Duration // how far counting may be behind for the store to answer
}

// Lag returns how far the store lags behind the comments, and whether it answers: whether it is
// complete, and not too late. It uses information up to some seconds old. known is false if the
// progress of counting is unknown.
func (w watch) Lag(ctx context.Context) (lag time.Duration, known, answers bool) {
	s, err := w.seen.get(ctx)
	if err != nil {
		return 0, false, false
	}
	now := time.Now()
	return max(0, now.Sub(s.upTo)), s.known, s.objection(now, w.lag) == nil
}
