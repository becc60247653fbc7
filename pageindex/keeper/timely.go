package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/internal/task"
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
	return &Timely{index: index, watch: watch{lag: pace.Lag, seen: task.NewCached(pace.Look, func(ctx context.Context) (storeStatus, error) {
		now, err := countStatus(ctx, counted)
		now.store.Moments = "now"
		now.covers = at(now.store.Token(now.state), "now") // it cannot lack anything
		return now, err
	})}}
}

// Find implements pageindex.Index. The error is of the kind Unavailable while counting is
// incomplete or late.
func (t *Timely) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	now, err := t.seen.Get(ctx)
	if err == nil {
		err = now.objection(time.Now(), t.lag)
	}
	if err != nil {
		return pageindex.Found{}, err
	}
	return t.index.Find(ctx, list, targets)
}
