package dynamo

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
)

// flightTimeout bounds reading a page for someone who has no deadline of his own.
const flightTimeout = 10 * time.Second

// flights reads a page once for all who want the same while it is being read, as happens when many look at one product.
// What they see is as old as the read took, at most. A caller that asks after a change which the Store knows of does not join
// a read that began before.
//
// The first caller leads: it reads in its own goroutine, so a page that is not shared costs a look into a map. The others
// follow: they wait for the leader, and may leave at any time. If the leader's client leaves, the leader reads on as long as
// anyone follows, within its own deadline.
type flights struct {
	mu    sync.Mutex
	under map[flightKey]*flight
}

// flightKey is what callers have in common that share a read: the query, and how often its product had changed.
type flightKey struct {
	queryKey
	changes uint64
}

// flight is one read under way.
type flight struct {
	waiting int                // who wants the page, the leader included; guarded by the mutex of flights
	cancel  context.CancelFunc // ends the read

	landed chan struct{} // closed once the rest is there
	page   comment.Page
	err    error
	// leadersOwn says that the read failed at its leader's deadline, or for the texts that its leader holds already. A follower
	// has a deadline and an account of its own, and reads again.
	leadersOwn bool
}

// join reads a page, or waits for whoever reads the same. The page is shared: nobody may change it.
func (f *flights) join(ctx context.Context, key flightKey, read func(context.Context) (comment.Page, error)) (comment.Page, error) {
	for {
		shared, leads := f.board(key)
		if leads {
			f.lead(ctx, key, shared, read)
			if shared.err != nil && ctx.Err() != nil {
				return comment.Page{}, ctx.Err() // the read may have ended since nobody waits, and says that it was cancelled
			}
			return shared.page, shared.err
		}
		select {
		case <-ctx.Done():
			f.leave(key, shared)
			return comment.Page{}, ctx.Err()
		case <-shared.landed:
			if !shared.leadersOwn {
				return shared.page, shared.err
			}
		}
	}
}

// board finds the read of a page that is under way, or makes one for the caller to lead.
func (f *flights) board(key flightKey) (shared *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	shared = f.under[key]
	if shared == nil {
		leads = true
		shared = &flight{landed: make(chan struct{})}
		if f.under == nil {
			f.under = map[flightKey]*flight{}
		}
		f.under[key] = shared
	}
	shared.waiting++
	return shared, leads
}

// lead reads a page for all who wait for it, in the goroutine of the first of them.
func (f *flights) lead(ctx context.Context, key flightKey, shared *flight, read func(context.Context) (comment.Page, error)) {
	reading, cancel, own := flightContext(ctx)
	defer cancel()
	shared.cancel = cancel
	stop := context.AfterFunc(ctx, func() { f.leave(key, shared) })
	defer stop()
	shared.err = call.Recover(func() (err error) {
		shared.page, err = read(reading)
		return err
	})()
	shared.leadersOwn = own && shared.err != nil && reading.Err() != nil || comment.KindOf(shared.err) == comment.TooMuchText
	f.land(key, shared)
}

// flightContext is the context of a read: its leader's, but that it outlives the leader's interest, and ends in any case. Own
// says that it ends by the leader's deadline.
func flightContext(ctx context.Context) (reading context.Context, cancel context.CancelFunc, own bool) {
	deadline, own := ctx.Deadline()
	if !own {
		deadline = time.Now().Add(flightTimeout)
	}
	reading, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
	return reading, cancel, own
}

// land gives a page to those who wait. Whoever asks from now on begins anew.
func (f *flights) land(key flightKey, shared *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(key, shared)
	close(shared.landed)
}

// leave is for one who no longer waits. The last of them ends the read.
func (f *flights) leave(key flightKey, shared *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared.waiting--; shared.waiting == 0 {
		f.end(key, shared)
		shared.cancel()
	}
}

// end lets nobody join a read any more. Another of the same page may be under way already.
func (f *flights) end(key flightKey, shared *flight) {
	if f.under[key] == shared {
		delete(f.under, key)
	}
}
