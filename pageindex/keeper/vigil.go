package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// patience is how many heartbeats of another build may be missed before it is taken over. What
// they take is no less than Settle, so the next build need not wait for that again.
const patience = 5

// vigil is what a process sees of a store's registration, look by look. Its times are by the clock
// of this process alone. The zero value saw nothing.
type vigil struct {
	last Registration
	// still is since when the heartbeat of the build under way stands still; zero before the first
	// look.
	still time.Time
	// closed is since when no gap is open and none was declared; zero while one is open.
	closed time.Time
}

// observe returns the vigil after another look.
func (v vigil) observe(s Registration, now time.Time) vigil {
	next := vigil{last: s, still: v.still, closed: v.closed}
	if v.still.IsZero() || v.alive(s) {
		next.still = now
	}
	switch {
	case s.Open():
		next.closed = time.Time{}
	case v.closed.IsZero() || s.Identity != v.last.Identity || s.Gaps != v.last.Gaps:
		next.closed = now
	}
	return next
}

// alive reports whether the build under way is another one than at the last look, or has had a
// heartbeat since.
func (v vigil) alive(s Registration) bool {
	return s.Work.Owner != v.last.Work.Owner || s.Work.Heartbeat != v.last.Work.Heartbeat
}

// silent reports whether the build under way was silent for so long that it is taken over.
func (v vigil) silent(pace Pace) bool {
	return time.Since(v.still) >= patience*pace.Heartbeat
}

// settled returns for how long every process that read the registry has seen that the store is to
// be fed. Gaps only rise, so no gap was open between two looks that saw the same closed one.
func (v vigil) settled(now time.Time) time.Duration {
	if v.closed.IsZero() {
		return 0
	}
	return now.Sub(v.closed)
}

// watch waits while another process builds the store, and returns what it saw. It ends when the
// build has ended, or is silent for so long that it is taken over.
func (k *Keeper) watch(ctx context.Context) vigil {
	var seen vigil
	for ctx.Err() == nil {
		registry, err := k.Table.Registry(ctx)
		switch s := registry.Stores[k.Name]; {
		case err != nil:
			seen = vigil{} // perhaps the builder could not write either
		case s.Work.free(k.Engine):
			return vigil{}
		default:
			if seen = seen.observe(s, time.Now()); seen.silent(k.Pace) {
				return seen
			}
		}
		_ = task.Wait(ctx, k.Pace.Heartbeat) // the loop looks at the context
	}
	return vigil{}
}
