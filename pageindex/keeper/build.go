package keeper

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
)

// lastWords is how long an ending build may take to say so.
const lastWords = 3 * time.Second

// Errors of builds, of the kind Conflict.
var (
	errBusy   = errors.New("it goes on")
	errLost   = comment.Errorf(comment.Conflict, "another process builds the store, since this one was silent for too long")
	errMissed = comment.Errorf(comment.Conflict, "the store missed comments while it was built, and must be built again")
	errGone   = comment.Errorf(comment.Conflict, "the store was emptied while it was built, and must be built again")
	errCounts = comment.Errorf(comment.Conflict, "not all comments have been counted: run talkback rebuild, or wait for the process that counts")
)

// Build builds the store anew, complete or not, while comments are written and counted. It calls
// tell from time to time with the number of entries read so far, and returns the final number. The
// error is of the kind Conflict if another process builds the store, if not all comments are
// counted, or if the store missed comments meanwhile.
func (k *Keeper) Build(ctx context.Context, tell func(entries int64)) (entries int64, err error) {
	return k.build(ctx, false, tell)
}

// build builds the store. If it is patient and another process builds the store, it waits until
// that build has ended, which is a Conflict too, or takes it over.
func (k *Keeper) build(ctx context.Context, patient bool, tell func(entries int64)) (entries int64, err error) {
	b := &build{Keeper: k, owner: newIdentity(), next: newIdentity(), tell: tell}
	if err := b.acquire(ctx, patient); err != nil {
		return 0, err
	}
	defer k.registry.Forget()
	defer k.seen.Forget()
	err = b.whileOurs(ctx)
	// Let others build the store. If this fails, they will notice the missing heartbeats.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	_, _ = b.update(ctx, func(s *Registration) { s.Work = Work{Heartbeat: s.Work.Heartbeat} })
	return b.read.Load(), err
}

// build is a build under way.
type build struct {
	*Keeper
	owner string
	next  string // the store's next moment
	tell  func(entries int64)
	seen  vigil
	read  atomic.Int64 // entries
	begun atomic.Bool  // whether later gaps make this build fail
}

// acquire makes this process the builder of the store, unless another process is. Then it returns
// an error that names the other process: at once or, if patient, when the build of that has ended.
func (b *build) acquire(ctx context.Context, patient bool) error {
	for looks, busy := 0, false; ; looks++ {
		registry, err := b.Table.Registry(ctx)
		if err != nil {
			return err
		}
		s := registry.Stores[b.Name]
		free := s.Work.free(b.Engine)
		busy = busy || looks > 0 && b.seen.alive(s)
		b.seen = b.seen.observe(s, time.Now())
		switch {
		case free && !(busy && patient), time.Since(b.seen.still) >= patience*b.Pace.Heartbeat:
			s.Work = Work{Owner: b.owner, Who: b.Who, Engine: b.Engine, Heartbeat: s.Work.Heartbeat + 1}
			err := b.Table.SwapRegistry(ctx, registry, registry.with(b.Name, s))
			if comment.KindOf(err) != comment.Conflict {
				return err
			}
		case busy && (free || !patient):
			return &comment.Error{Kind: comment.Conflict, Cause: errBusy, Message: fmt.Sprintf("the store is being built by %s: wait until that has ended, or end it", s.Work.Who)}
		}
		if err := task.Wait(ctx, b.Pace.Heartbeat); err != nil {
			return err
		}
	}
}

// update changes the store's registration, unless another build has taken over.
func (b *build) update(ctx context.Context, change func(*Registration)) (Registration, error) {
	return b.register(ctx, b.Name, func(s *Registration) error {
		if s.Work.Owner != b.owner {
			return errLost
		}
		s.Work.Entries = b.read.Load()
		change(s)
		return nil
	})
}

// whileOurs runs the build, with heartbeats beside it, and stops it when it can no longer succeed.
func (b *build) whileOurs(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	keep := func(ctx context.Context) error {
		for task.Wait(ctx, b.Pace.Heartbeat) == nil {
			b.tell(b.read.Load())
			begun := b.begun.Load()
			s, err := b.update(ctx, func(s *Registration) { s.Work.Heartbeat++ })
			switch {
			case ctx.Err() != nil: // the build has ended
			case errors.Is(err, errLost):
				return err
			case err == nil && begun && s.Open():
				return errMissed
			}
		}
		return nil
	}
	err := task.Beside(ctx, func(ctx context.Context) {
		if err := task.Try(func() error { return keep(ctx) }); err != nil {
			stop(err)
		}
	}, func(ctx context.Context) error { return task.Try(func() error { return b.work(ctx) }) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// work adds all entries of the table to a build of the store, once every process feeds the store.
func (b *build) work(ctx context.Context) error {
	s, err := b.begin(ctx)
	if err != nil {
		return err
	}
	if err := task.Wait(ctx, b.Pace.Settle-b.seen.observe(s, time.Now()).settled(time.Now())); err != nil {
		return err
	}
	state, _, err := b.Progress.Current(ctx)
	if err != nil {
		return err
	}
	if !state.Complete {
		return errCounts
	}
	covers := at(s.Token(state), b.next)
	anew, err := within(ctx, b.Pace.Build, b.Store.Build)
	if err != nil {
		return err
	}
	err = b.Entries.All(ctx, func(ctx context.Context, entries []pageindex.Entry) error {
		b.read.Add(int64(len(entries)))
		ctx, cancel := context.WithTimeout(ctx, b.Pace.Build)
		defer cancel()
		return anew.Add(ctx, entries)
	})
	if err != nil {
		return err
	}
	if err := b.check(ctx, func(now string) bool { return identityOf(now) == identityOf(covers) }); err != nil {
		return err // entries added before it was emptied are gone
	}
	if err := b.finish(ctx, anew, covers); err != nil {
		return err
	}
	if err := b.check(ctx, func(now string) bool { return now == covers }); err != nil {
		return err
	}
	s, err = b.update(ctx, func(s *Registration) { s.Built = tokenOf(covers) })
	if err == nil && s.Open() {
		return errMissed
	}
	return err
}

// begin notes in the table that the build begins. If the store does not have the table's identity,
// begin first empties it and gives it a new one.
func (b *build) begin(ctx context.Context) (Registration, error) {
	s, err := b.update(ctx, func(*Registration) {})
	if err != nil {
		return s, err
	}
	covers, err := within(ctx, b.Pace.Find, b.Store.Covers)
	if err != nil {
		return s, err
	}
	if known := identityOf(covers); known == "" || known != s.Identity {
		reason := errNotOurs.Message
		switch {
		case known != "":
			b.Logger.Warn("a store of page numbers holds comments of another table, or is an old copy, and is built anew: if it was not put back, give each table a store of its own", "store", b.Name)
		case s.Identity == "":
			reason = "it was never built"
		}
		emptied, err := within(ctx, b.Pace.Build, b.Store.Build)
		if err != nil {
			return s, err
		}
		identity := newIdentity()
		if err := b.finish(ctx, emptied, identity+"/"); err != nil {
			return s, err
		}
		_, err = b.update(ctx, func(s *Registration) {
			s.Identity, s.Built = identity, ""
			*s = s.withGap(reason, time.Now().UTC())
		})
		if err != nil {
			return s, err
		}
	}
	s, err = b.update(ctx, func(s *Registration) {
		s.Begun = s.Gaps
		*s = s.toward(covers, b.next)
	})
	b.begun.Store(err == nil)
	return s, err
}

func (b *build) finish(ctx context.Context, anew pageindex.Build, covers string) error {
	ctx, cancel := context.WithTimeout(ctx, b.Pace.Finish)
	defer cancel()
	return anew.Finish(ctx, covers)
}

// check returns an error if the store covers the wrong text.
func (b *build) check(ctx context.Context, right func(covers string) bool) error {
	covers, err := within(ctx, b.Pace.Find, b.Store.Covers)
	if err == nil && !right(covers) {
		return errGone
	}
	return err
}

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

// settled returns how long every process that reads the registry has seen that it must feed the
// store. Gaps only rises, so no gap was open between two observations with the same value.
func (v vigil) settled(now time.Time) time.Duration {
	if v.closed.IsZero() {
		return 0
	}
	return now.Sub(v.closed)
}
