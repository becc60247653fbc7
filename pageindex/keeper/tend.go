package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// A build that failed, or whose store missed comments soon after, is repeated after firstPause,
// then after twice as long each time, up to longestPause. The reason is that each build reads all
// markers of the table. A store that was complete for longestPause starts with firstPause again.
//
// Only reading for nothing is worth such a pause. A build that read nothing, because the store
// refused to begin, is repeated after cheapPause. One that read little waits only so long that at
// most vainEntries a second are read in vain.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Minute
	cheapPause   = 2 * time.Second
	vainEntries  = 1000
)

// probeEvery is the time between two calls to a store that does not answer.
const probeEvery = time.Second

// tellEvery is the time between two progress reports of a build.
const tellEvery = 10 * time.Second

// need is what a store needs.
type need int

const (
	nothing need = iota // it is complete
	counting
	presence
	building
)

func (s storeStatus) needs() need {
	switch {
	case !s.state.Complete:
		return counting
	case s.away != nil:
		return presence
	case !s.complete():
		return building
	}
	return nothing
}

// Run builds the store whenever it is incomplete, until the context ends. It logs failures and
// retries.
func (k *Keeper) Run(ctx context.Context) {
	var t tending
	defer k.lastAdvance(ctx)
	for ctx.Err() == nil {
		var now storeStatus
		err := task.Try(func() (err error) {
			now, err = k.readStatus(ctx)
			return err
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			now.away = err
		}
		switch {
		case now.away != nil && !t.away:
			k.Logger.Warn("a store of page numbers does not answer; until it does, page numbers are unavailable", "store", k.Name, "error", now.away)
		case now.away == nil && t.away:
			k.Logger.Info("a store of page numbers answers again", "store", k.Name)
		}
		t.away = now.away != nil
		switch now.needs() {
		case building:
			k.rebuild(ctx, &t, now)
		case presence:
			k.probe(ctx)
		default:
			k.sleep(ctx, now.store)
		}
	}
}

// probe waits until the store answers. It calls the store only, and does not read the table.
func (k *Keeper) probe(ctx context.Context) {
	for task.Wait(ctx, probeEvery) == nil {
		err := task.Try(func() error {
			_, err := within(ctx, k.Pace.Feed, k.Store.Covers)
			return err
		})
		if err == nil {
			return
		}
	}
}

// tending is the state of Run.
type tending struct {
	away      bool
	pause     time.Duration // before the next build, if the last one read much
	ended     time.Time     // when the last build ended
	read      int64         // how many entries it read
	lastError string        // its error; empty if it succeeded
}

// next returns the pause before a build that becomes necessary at a time.
func (t *tending) next(now time.Time) time.Duration {
	switch {
	case t.ended.IsZero():
		return 0
	case now.Sub(t.ended) > longestPause:
		t.pause = firstPause
	case t.read == 0:
		return cheapPause
	default:
		t.pause = min(max(2*t.pause, firstPause), longestPause)
	}
	return min(t.pause, max(firstPause, time.Duration(t.read)*time.Second/vainEntries))
}

// sleep waits until the store has to be checked again: after a while, when woken, or when its
// registration changes.
func (k *Keeper) sleep(ctx context.Context, was Registration) {
	_ = task.Wait(ctx, min(k.Pace.Look, k.Pace.Check)) // at most this often, even if it is woken more often
	next := time.NewTicker(k.Pace.Look)
	defer next.Stop()
	for until := time.Now().Add(k.Pace.Check); time.Now().Before(until); {
		if k.unmoved.Load() {
			_, _ = k.fed.GetBy(ctx, k.advance) // an error will show with the next feed
		}
		registry, err := k.Table.Registry(ctx)
		s := registry.Stores[k.Name]
		was.Moments = s.Moments // the regular check compares them
		if err == nil && s != was {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
			return
		case <-next.C:
		}
	}
}

// lastAdvance moves store and table on if entries were fed since they last moved.
func (k *Keeper) lastAdvance(ctx context.Context) {
	if !k.unmoved.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	k.fed.Forget()
	_, _ = k.fed.GetBy(ctx, k.advance) // if it fails, only a restore to the last seconds goes unnoticed
}

// rebuild builds the store after a pause.
func (k *Keeper) rebuild(ctx context.Context, t *tending, now storeStatus) {
	if task.Wait(ctx, t.next(time.Now())) != nil {
		return
	}
	began := time.Now()
	if t.lastError == "" {
		k.Logger.Info("a store of page numbers is being built", "store", k.Name, "reason", reasonToBuild(now))
	}
	told := began
	entries, err := k.build(ctx, true, func(entries int64) {
		if now := time.Now(); now.Sub(told) >= tellEvery {
			told = now
			k.Logger.Info("a store of page numbers is being built", "store", k.Name, "comments", entries)
		}
	})
	if errors.Is(err, errBusy) {
		return
	}
	t.ended, t.read = time.Now(), entries
	before := t.lastError
	if t.lastError = ""; err != nil {
		t.lastError = err.Error()
	}
	switch {
	case ctx.Err() != nil, err != nil && t.lastError == before: // it was logged before
	case err == nil:
		k.Logger.Info("a store of page numbers is complete", "store", k.Name, "comments", entries, "took", time.Since(began).Round(time.Millisecond))
	case comment.KindOf(err) == comment.Conflict:
		k.Logger.Info("a store of page numbers is not complete yet", "store", k.Name, "reason", comment.MessageOf(err))
	default:
		k.Logger.Warn("building a store of page numbers failed and is tried again", "store", k.Name, "error", err)
	}
}
