package dynamo

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/panics"
)

// flightTimeout bounds a read whose caller has no deadline.
const flightTimeout = 10 * time.Second

// flights reads a page once for all callers that want it at the same time, as singleflight does.
// What they get is at most as old as the read took. A caller that comes after a change which the
// Store knows does not join a read that began before it.
//
// The first caller leads: it reads in its own goroutine, so a page that is not shared costs one
// look into a map. The others wait for the leader, and may leave at any time. If the leader's
// client leaves, the leader reads on while others wait, until its own deadline.
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
	key     flightKey
	waiting int                // callers, the leader included; guarded by the mutex of flights
	ended   bool               // whether no more callers join; guarded as well
	cancel  context.CancelFunc // ends the read

	landed chan struct{} // closed once the rest is there; nil while nobody follows
	page   sharedPage
	err    error
	// leadersOwn says that the read failed for a reason of its leader alone: its deadline, or the
	// texts that its operation holds already. A follower has its own deadline and account, and
	// reads again.
	leadersOwn bool
}

// join reads a page, or waits for a caller that reads the same one. The page is shared, so do not
// change it.
func (f *flights) join(ctx context.Context, key flightKey, read func(context.Context) (sharedPage, error)) (sharedPage, error) {
	for {
		shared, leads := f.board(key)
		if leads {
			f.lead(ctx, shared, read)
			if shared.err != nil && ctx.Err() != nil {
				return sharedPage{}, ctx.Err() // the read's own error says only that it was canceled
			}
			return shared.page, shared.err
		}
		select {
		case <-ctx.Done():
			f.leave(shared)
			return sharedPage{}, ctx.Err()
		case <-shared.landed:
			if !shared.leadersOwn {
				return shared.page, shared.err
			}
		}
	}
}

// board returns the read of a page that is under way, or a new one for the caller to lead.
func (f *flights) board(key flightKey) (shared *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	shared = f.under[key]
	if shared == nil {
		leads = true
		shared = &flight{key: key}
		if f.under == nil {
			f.under = map[flightKey]*flight{}
		}
		f.under[key] = shared
	} else if shared.landed == nil {
		shared.landed = make(chan struct{})
	}
	shared.waiting++
	return shared, leads
}

// lead reads a page for all callers that wait for it, in the goroutine of the first.
func (f *flights) lead(ctx context.Context, shared *flight, read func(context.Context) (sharedPage, error)) {
	reading, cancel, own := flightContext(ctx)
	defer cancel()
	shared.cancel = cancel
	stop := context.AfterFunc(ctx, func() { f.leave(shared) })
	defer stop()
	shared.err = panics.Guard(func() (err error) {
		shared.page, err = read(reading)
		return err
	})
	shared.leadersOwn = own && shared.err != nil && reading.Err() != nil || comment.KindOf(shared.err) == comment.TooMuchText
	f.land(shared)
}

// flightContext is the context of a read. It keeps the leader's values and deadline, and outlives
// the leader's request. own says that the deadline is the leader's and not flightTimeout.
func flightContext(ctx context.Context) (reading context.Context, cancel context.CancelFunc, own bool) {
	deadline, own := ctx.Deadline()
	if !own {
		deadline = time.Now().Add(flightTimeout)
	}
	reading, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
	return reading, cancel, own
}

// land gives the page to the callers that wait. Later callers begin a new read.
func (f *flights) land(shared *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(shared)
	if shared.landed != nil {
		close(shared.landed)
	}
}

// leave is called for a caller that no longer waits. The last one cancels the read.
func (f *flights) leave(shared *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared.waiting--; shared.waiting == 0 {
		f.end(shared)
		shared.cancel()
	}
}

// end lets no more callers join a read. Another read of the same page may be under way already.
func (f *flights) end(shared *flight) {
	if !shared.ended {
		shared.ended = true
		delete(f.under, shared.key)
	}
}
