package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/task"
)

const (
	// Patience is how long a store may take to answer. Redis takes less than a millisecond, and a
	// request waits.
	Patience = 50 * time.Millisecond
	// pause is the time between attempts to reach a store that did not answer. They run in the
	// background, so that no request waits for them.
	pause = time.Second
	// quiet is the time after a warning in which no other is logged.
	quiet = time.Minute
)

// Link calls a store that may be away. After a failure it does not call the store until it answers
// again. Safe for concurrent use.
type Link struct {
	ctx   context.Context // ends the attempts in the background
	store Store
	name  string
	log   *slog.Logger

	mu     sync.Mutex
	away   bool
	logged time.Time // when it was last logged that the store is away
}

// NewLink returns a link to a store. The name is for the log and must not hold a password. The end
// of the context ends attempts in the background.
func NewLink(ctx context.Context, store Store, name string, log *slog.Logger) *Link {
	return &Link{ctx: ctx, store: store, name: name, log: log}
}

// Away reports whether the store failed to answer, and has not answered since.
func (l *Link) Away() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

// change changes an account in the store unless that is away, and reports whether the store
// answered. A client that hangs up does not end the call: it says nothing about the store.
func (l *Link) change(ctx context.Context, p Policy, c Client, cost Cost) (owed time.Duration, changed, answered bool) {
	if l.Away() {
		return 0, false, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	owed, changed, err := l.store.Change(ctx, p, c, cost)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.away { // else another request noticed first
			l.away = true
			go l.await(l.warn(err))
		}
		return 0, false, false
	}
	return owed, changed, true
}

// warn logs that the store is away, unless that was logged within the time quiet, and reports
// whether it did. The caller holds the lock.
func (l *Link) warn(err error) bool {
	if time.Since(l.logged) <= quiet {
		return false
	}
	l.logged = time.Now()
	l.log.Warn("the store of client limits is away: this server limits clients by itself", "store", l.name, "error", err)
	return true
}

// await returns when the store answers again. warned says whether the log already has the warning.
// If not, await logs it when quiet is over; else the last line about a store that is away would say
// that it answers.
func (l *Link) await(warned bool) {
	for away := true; away && task.Wait(l.ctx, pause) == nil; {
		ctx, cancel := context.WithTimeout(l.ctx, Patience)
		err := l.store.Ping(ctx)
		cancel()
		away = err != nil
		l.mu.Lock()
		switch l.away = away; {
		case away:
			warned = warned || l.warn(err)
		case warned:
			l.log.Info("the store of client limits answers again", "store", l.name)
		}
		l.mu.Unlock()
	}
}

// Store keeps accounts that several servers share. It may be away.
type Store interface {
	// Change adds a cost to the time that a client owes: see Policy. Unless the cost is forced, it
	// changes nothing if the client may not use that much. It returns the time that the client owes
	// afterwards.
	Change(ctx context.Context, policy Policy, c Client, cost Cost) (owed time.Duration, changed bool, err error)
	// Ping returns an error while the store cannot be used.
	Ping(ctx context.Context) error
}

// Cost is a change of what a client owes.
type Cost struct {
	// Time is the time in which the units become available. It may be negative.
	Time time.Duration
	// Forced changes are made whatever the client owes.
	Forced bool
}
