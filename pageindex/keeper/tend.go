package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/internal/wait"
)

// A build that came to nothing, or whose store missed comments soon after, begins again after
// firstPause, and after twice as long each further time, up to longestPause: each reads all markers
// of the table. After a store that was complete for longestPause it begins with firstPause again.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Minute
)

// tellEvery is the time between two reports of how far a build is.
const tellEvery = 10 * time.Second

// need is what a store needs.
type need int

const (
	nothing need = iota // it is complete
	counting
	presence
	building
)

// needs decides what a store needs.
func (s sight) needs() need {
	switch {
	case !s.state.Complete:
		return counting
	case s.away != nil:
		return presence
	case s.covers != s.store.Token(s.state):
		return building
	}
	return nothing
}

// Run has the store built whenever it is not complete, until the context ends. What fails is logged
// and tried again.
func (k *Keeper) Run(ctx context.Context) {
	var t tending
	for ctx.Err() == nil {
		var now sight
		err := panics.Try(func() (err error) {
			now, err = k.look(ctx)
			return err
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			now.away = err
		}
		k.tellAway(&t, now)
		if now.needs() == building {
			k.rebuild(ctx, &t, now)
			continue
		}
		k.sleep(ctx)
	}
}

// tending is what Run remembers.
type tending struct {
	away  bool
	pause time.Duration // before the next build
	ended time.Time     // when the last build ended
}

// next returns the pause before a build that is needed at a time.
func (t *tending) next(now time.Time) time.Duration {
	switch {
	case t.ended.IsZero():
		t.pause = 0
	case now.Sub(t.ended) > longestPause:
		t.pause = firstPause
	default:
		t.pause = min(max(2*t.pause, firstPause), longestPause)
	}
	return t.pause
}

// sleep waits until the store is to be looked at again.
func (k *Keeper) sleep(ctx context.Context) {
	_ = wait.For(ctx, min(k.Pace.Look, k.Pace.Check)) // no more often, however often it is woken
	timer := time.NewTimer(k.Pace.Check)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-k.wake:
	case <-timer.C:
	}
}

// tellAway logs that the store does not answer, and that it does again.
func (k *Keeper) tellAway(t *tending, now sight) {
	switch {
	case now.away != nil && !t.away:
		k.Logger.Warn("a store of page numbers does not answer; until it does, page numbers are unavailable", "store", k.Name, "error", now.away)
	case now.away == nil && t.away:
		k.Logger.Info("a store of page numbers answers again", "store", k.Name)
	}
	t.away = now.away != nil
}

// rebuild builds the store after a pause.
func (k *Keeper) rebuild(ctx context.Context, t *tending, now sight) {
	if wait.For(ctx, t.next(time.Now())) != nil {
		return
	}
	began := time.Now()
	k.Logger.Info("a store of page numbers is being built", "store", k.Name, "reason", reasonToBuild(now))
	told := began
	entries, err := k.Build(ctx, func(entries int64) {
		if now := time.Now(); now.Sub(told) >= tellEvery {
			told = now
			k.Logger.Info("a store of page numbers is being built", "store", k.Name, "comments", entries)
		}
	})
	if errors.Is(err, errBusy) {
		k.sleep(ctx)
		return
	}
	t.ended = time.Now()
	switch {
	case ctx.Err() != nil:
	case err == nil:
		k.Logger.Info("a store of page numbers is complete", "store", k.Name, "comments", entries, "took", time.Since(began).Round(time.Millisecond))
	case comment.KindOf(err) == comment.Conflict:
		k.Logger.Info("a store of page numbers is not complete yet", "store", k.Name, "reason", comment.MessageOf(err))
	default:
		k.Logger.Warn("building a store of page numbers failed and is tried again", "store", k.Name, "error", err)
	}
}

func reasonToBuild(now sight) string {
	switch {
	case now.store.Identity == "":
		return "it was never built"
	case identityOf(now.covers) != now.store.Identity:
		return errNotOurs.Message
	case now.store.Open():
		return now.store.Reason
	case now.store.Built == "":
		return "an earlier build did not end"
	}
	return "all comments were counted anew, or an earlier build did not end"
}
