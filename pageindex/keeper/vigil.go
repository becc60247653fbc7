package keeper

import (
	"context"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// patience is how many missed heartbeats make a build count as dead. They take no less than Settle,
// so the next build need not wait for that again.
const patience = 5

// vigil is what a process has observed of a store's registration. Its times are by the local clock.
// The zero value has observed nothing.
type vigil struct {
	last Registration
	// still is since when the heartbeat of the build under way has not changed; zero before the
	// first observation.
	still time.Time
	// closed is since when no gap has been open or declared; zero while one is open.
	closed time.Time
}

// observe returns the vigil after another observation.
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

// alive reports whether the build under way is another than last observed, or has had a heartbeat
// since.
func (v vigil) alive(s Registration) bool {
	return s.Work.Owner != v.last.Work.Owner || s.Work.Heartbeat != v.last.Work.Heartbeat
}

// silent reports whether the build under way has been silent for so long that it counts as dead.
func (v vigil) silent(pace Pace) bool {
	return time.Since(v.still) >= patience*pace.Heartbeat
}

// settled returns how long every process that reads the registry has seen that it must feed the
// store. Gaps only rises, so no gap was open between two observations with the same value.
func (v vigil) settled(now time.Time) time.Duration {
	if v.closed.IsZero() {
		return 0
	}
	return now.Sub(v.closed)
}

// watch observes another process's build of the store, until the build has ended or counts as dead.
func (k *Keeper) watch(ctx context.Context) vigil {
	var seen vigil
	for ctx.Err() == nil {
		registry, err := k.Table.Registry(ctx)
		switch s := registry.Stores[k.Name]; {
		case err != nil:
			seen = vigil{} // perhaps the builder could not write its heartbeats either
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
