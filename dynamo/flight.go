package dynamo

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// flightTimeout bounds a read whose caller has no deadline.
const flightTimeout = 10 * time.Second

// flights reads a page once for all callers that want it at the same time, as singleflight does.
// What they get is at most as old as the read took. A caller that comes after a change which the
// Store knows does not join a read that began before it.
//
// The first caller leads: it reads in its own goroutine and by its own context, so a page that is not
// shared costs one look into a map. The others wait for the leader, and may leave at any time. If the
// leader's client leaves or its time is over, they read again, together.
type flights struct {
	mu    sync.Mutex
	under map[flightKey]*flight
}

// flightKey identifies a read that callers may share: the query, and the number of the last change
// of its product.
type flightKey struct {
	queryKey
	changes uint64
}

// flight is one read under way.
type flight struct {
	landed chan struct{} // closed once the rest is there; nil while nobody follows
	page   sharedPage
	err    error
	// leadersOwn says that the read failed for a reason of its leader alone: it left, its time was
	// over, or its operation holds too many texts already. A follower reads again.
	leadersOwn bool
}

// join reads a page, or waits for a caller that reads the same one. A panic of read is an error for
// all of them. The page is shared, so do not change it.
func (f *flights) join(ctx context.Context, key flightKey, read func(context.Context) (sharedPage, error)) (page sharedPage, err error) {
	shared, leads := f.board(key)
	for ; !leads; shared, leads = f.board(key) {
		select {
		case <-ctx.Done():
			return sharedPage{}, ctx.Err()
		case <-shared.landed:
			if !shared.leadersOwn {
				return shared.page, shared.err
			}
		}
	}
	defer func() {
		f.land(ctx, key, shared)
		if page, err = shared.page, shared.err; err != nil && ctx.Err() != nil {
			err = ctx.Err() // the read's own error may say less
		}
	}()
	defer task.Recover(&shared.err)
	bounded := ctx
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, flightTimeout)
		defer cancel()
	}
	shared.page, shared.err = read(bounded)
	return shared.page, shared.err
}

// board returns the read of a page that is under way, or a new one for the caller to lead.
func (f *flights) board(key flightKey) (shared *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	shared = f.under[key]
	if shared == nil {
		leads = true
		shared = new(flight)
		if f.under == nil {
			f.under = map[flightKey]*flight{}
		}
		f.under[key] = shared
	} else if shared.landed == nil {
		shared.landed = make(chan struct{})
	}
	return shared, leads
}

// land ends a read that its leader made by a context. A caller that comes afterwards begins a new read.
func (f *flights) land(ctx context.Context, key flightKey, shared *flight) {
	shared.leadersOwn = shared.err != nil && ctx.Err() != nil || comment.KindOf(shared.err) == comment.TooMuchText
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.under, key)
	if shared.landed != nil {
		close(shared.landed)
	}
}

// sharedPage is a page as callers share it: texts stay compressed that the table has so.
type sharedPage struct {
	comment.Page // without its comments
	comments     []layout.Compressed
}
