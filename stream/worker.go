package stream

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

// worker is one run of a Consumer.
type worker struct {
	*shared
	*readers // of the Consumer
	engine   string
	discover time.Duration

	label     string
	listed    time.Time // when the shards were last listed
	sightings map[string]sighting
	absent    map[string]int
	expires   time.Duration // how long until a lease may be free, as of the last turn
	running   sync.WaitGroup
	wake      chan struct{}
}

// turn reads the leases and, from time to time, lists the shards. Then it does what decide says.
func (w *worker) turn(ctx context.Context) error {
	if w.label == "" {
		listing, err := w.source.Shards(ctx)
		if err != nil {
			return err
		}
		w.label = listing.Label
	}
	// The leases are read before the shards: a shard with a lease was listed earlier, so if it is
	// missing now, it is gone.
	leases, err := w.leases.List(ctx, w.label)
	if err != nil {
		return err
	}
	now := time.Now()
	w.sightings = sight(w.sightings, leases, now)
	v := view{me: w.me, now: now, expiry: w.expiry, engine: w.engine, leases: leases, held: map[string]bool{}, sightings: w.sightings}
	for shard := range w.held() {
		v.held[shard] = true
	}
	if now.Sub(w.listed) >= w.discover {
		listing, err := w.source.Shards(ctx)
		if err != nil {
			return err
		}
		w.listed, w.absent = now, miss(w.absent, leases, listing)
		v.listing = &listing
	}
	v.absent, w.expires = w.absent, v.expires()
	if v.state, err = w.journal.State(ctx); err != nil {
		return err
	}
	w.see(sighted{at: now, leases: leases, complete: v.state.Complete && v.state.Label == w.label})
	if v.listing != nil && v.listing.Label != w.label {
		w.stop()
		w.label, w.listed, w.sightings, w.absent = v.listing.Label, time.Time{}, nil, nil
		w.rouse()
		return nil
	}
	if err := w.act(ctx, v, decide(v)); err != nil {
		w.listed = time.Time{} // list the shards again, and decide again
		return err
	}
	return nil
}

// act carries out actions, gaps before leases are taken: nothing after a gap is read before it is
// recorded.
func (w *worker) act(ctx context.Context, v view, a actions) error {
	held := w.held()
	for _, shard := range a.leave {
		if r := held[shard]; r != nil { // it may have ended since
			r.leave()
		}
	}
	for _, gap := range a.gaps {
		if err := w.gap(ctx, gap); err != nil {
			return err
		}
	}
	for _, lease := range a.create {
		if _, err := w.swap(ctx, Lease{}, lease); err != nil {
			return err
		}
	}
	for _, lease := range a.lost {
		ended := lease
		ended.Owner, ended.Ended, ended.Counter = "", true, lease.Counter+1
		if _, err := w.swap(ctx, lease, ended); err != nil {
			return err
		}
	}
	if a.begin {
		var gap *Gap
		err := changeState(ctx, w.journal, func(state *State) error {
			*state, gap = state.begun(v.listing.Label, v.now)
			return nil
		})
		if err != nil {
			return err
		}
		if gap != nil {
			w.observer.GapFound()
			w.tell(*gap)
		}
	}
	if len(a.create)+len(a.lost) > 0 {
		w.rouse()
	}
	return w.take(ctx, a.take, v.state)
}

// take takes leases, and starts a reader for each. A reader stops when leave is called or the
// context ends, and then still releases its lease.
func (w *worker) take(ctx context.Context, leases []Lease, state State) error {
	for _, lease := range leases {
		mine := lease
		mine.Owner, mine.Engine, mine.Counter = w.me, w.engine, lease.Counter+1
		progress := resume(mine, state, time.Now())
		taken, err := w.swap(ctx, lease, progress.shown())
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		r := &reader{
			shared: w.shared, label: w.label, leave: cancel, progress: progress, since: time.Now(), changed: time.Now(),
			sent: make(chan struct{}, 1), heard: make(chan struct{}, 1),
		}
		w.set(lease.Shard, r)
		w.running.Go(func() {
			defer cancel()
			r.run(ctx)
			w.set(lease.Shard, nil)
			w.rouse()
		})
	}
	return nil
}

// swap reports whether it wrote the lease. If another process was first, that is no error.
func (w *worker) swap(ctx context.Context, old, new Lease) (bool, error) {
	err := w.leases.Swap(ctx, w.label, old, new)
	if comment.KindOf(err) == comment.Conflict {
		return false, nil
	}
	return err == nil, err
}

// stop ends all readers and waits for them.
func (w *worker) stop() {
	for _, r := range w.held() {
		r.leave()
	}
	w.running.Wait()
}

// rouse starts the next turn at once.
func (w *worker) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// readers holds the readers of a process, and the leases as it last read them. The zero value has
// none. It is safe for concurrent use.
type readers struct {
	mu      sync.Mutex
	byShard map[string]*reader
	seen    sighted
}

// sighted has the leases and the state as a process last read them.
type sighted struct {
	at     time.Time // zero while it does not run
	leases []Lease
	// complete is whether these are all leases of the stream and no gap is known.
	complete bool
}

// see stores the leases that were just read.
func (rs *readers) see(now sighted) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.seen = now
}

// set sets the reader of a shard; nil for none.
func (rs *readers) set(shard string, r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byShard == nil {
		rs.byShard = map[string]*reader{}
	}
	if rs.byShard[shard] = r; r == nil {
		delete(rs.byShard, shard)
	}
}

// number returns the number of readers.
func (rs *readers) number() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return len(rs.byShard)
}

// held returns the readers by their shards.
func (rs *readers) held() map[string]*reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return maps.Clone(rs.byShard)
}
