package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// Patience is how long a store may take to answer. Redis takes less than a millisecond, and a
	// request waits.
	Patience = 50 * time.Millisecond
	// pause is how long a store that did not answer is left alone. Then it is tried in the
	// background, so that no request waits for it again.
	pause = time.Second
	// quiet is for how long nothing is logged of a store that goes away again.
	quiet = time.Minute
)

// Link is the way to a store that may be away. After a failure it asks the store nothing until that
// answers again. Safe for concurrent use.
type Link struct {
	ctx   context.Context // ends the attempts in the background
	store Store
	name  string
	log   *slog.Logger

	mu     sync.Mutex
	away   bool
	logged time.Time // when it was last logged that the store is away
}

// NewLink returns the way to a store. Its name, for the log, holds no password. The end of the
// context ends what it does in the background.
func NewLink(ctx context.Context, store Store, name string, log *slog.Logger) *Link {
	return &Link{ctx: ctx, store: store, name: name, log: log}
}

// Away reports whether the store did not answer, and has not done so since.
func (l *Link) Away() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

// try calls the store unless it is away, and reports whether the store answered. A client that hangs
// up does not end the call: it says nothing about the store.
func (l *Link) try(ctx context.Context, call func(context.Context, Store) error) bool {
	if l.Away() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	if err := call(ctx, l.store); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.away { // else another request noticed first
			l.away = true
			go l.await(l.tell(err))
		}
		return false
	}
	return true
}

// tell logs that the store is away, unless that was logged a moment ago, and reports whether it did. The
// caller holds the lock.
func (l *Link) tell(err error) bool {
	if time.Since(l.logged) <= quiet {
		return false
	}
	l.logged = time.Now()
	l.log.Warn("the store of client limits is away: this server limits clients by itself", "store", l.name, "error", err)
	return true
}

// await returns when the store answers again. told says that the log has it that the store is away: else
// it is told once it may be, or the last word about it would be that it answers.
func (l *Link) await(told bool) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(l.ctx, Patience)
		err := l.store.Ping(ctx)
		cancel()
		if err == nil {
			break
		}
		if !told {
			l.mu.Lock()
			told = l.tell(err)
			l.mu.Unlock()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = false
	if told {
		l.log.Info("the store of client limits answers again", "store", l.name)
	}
}
