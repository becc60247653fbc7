package live

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/task"
)

const (
	// Use is the name under which all servers ask for events, and wantFor is how long each call of
	// Want lasts.
	Use     = "subscriptions"
	wantFor = 15 * time.Minute
	// linger is how long the hub follows events after the last subscriber left, which may come back.
	linger = time.Minute
	// readAgain is the time until a failed read is retried, and readKeys bounds the keys of a read.
	readAgain = time.Second
	readKeys  = 100
)

// Hub hands events to the subscribers of a process. It is safe for concurrent use.
type Hub struct {
	log         Log
	reader      Reader
	countedUpTo func(context.Context) (time.Time, bool)
	logger      *slog.Logger

	dropped, waiting atomic.Int64 // subscribers that were too slow, and bytes of the missed events that wait
	// taking lets one lane at a time read, until what it read is delivered. Several lanes have changes
	// of a product, and the statistics that are delivered last must be those that were read last.
	taking *semaphore.Weighted

	mu        sync.Mutex      // guards what follows
	following *following      // nil while nobody subscribes
	at        outbox.Position // up to here, all events were handed out
	topics    map[topic]map[*Subscription]struct{}
	newest    time.Time // time of the newest event that was read
}

// New returns a hub. countedUpTo returns a time up to which statistics include all changes, false
// if that is unknown.
func New(log Log, reader Reader, countedUpTo func(context.Context) (time.Time, bool), logger *slog.Logger) *Hub {
	return &Hub{log: log, reader: reader, countedUpTo: countedUpTo, logger: logger, taking: semaphore.NewWeighted(1), topics: map[topic]map[*Subscription]struct{}{}}
}

// Dropped returns how many subscribers were dropped because they were too slow.
func (h *Hub) Dropped() int64 { return h.dropped.Load() }

// Newest returns the time of the newest event that was read; zero if there is none or nobody
// subscribes.
func (h *Hub) Newest() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.following == nil {
		return time.Time{}
	}
	return h.newest
}

// join adds a subscription, and begins to follow events if it is the first. It gets all events
// after the position.
func (h *Hub) join(ctx context.Context, s *Subscription) (until outbox.Position, err error) {
	h.mu.Lock()
	f := h.following
	if f == nil {
		ctx, stop := context.WithCancel(context.Background())
		f = &following{stop: stop, ready: make(chan struct{})}
		h.following = f
		go h.follow(ctx, f)
	}
	f.users++ // following goes on while it has users
	if f.idle != nil {
		f.idle.Stop()
		f.idle = nil
	}
	s.following = f
	h.mu.Unlock()
	select {
	case <-f.ready:
	case <-ctx.Done():
		return until, ctx.Err()
	}
	if f.err != nil {
		return until, f.err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.following != f { // it failed meanwhile
		return until, errUnavailable
	}
	if h.topics[s.topic] == nil {
		h.topics[s.topic] = map[*Subscription]struct{}{}
	}
	h.topics[s.topic][s] = struct{}{}
	return h.at, nil
}

// leave removes a subscription, if it is there. After the last one, the hub still follows events
// for the time linger.
func (h *Hub) leave(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.end(ErrBroken, func() bool { return true })
	delete(h.topics[s.topic], s)
	if len(h.topics[s.topic]) == 0 {
		delete(h.topics, s.topic)
	}
	f := s.following
	if f == nil {
		return
	}
	s.following = nil
	if f.users--; f.users == 0 {
		f.idle = time.AfterFunc(linger, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if f.users == 0 && f == h.following { // nobody came back
				h.following = nil
				f.stop()
			}
		})
	}
}

// upTo returns the position up to which a subscription has received all events, empty if deliveries
// wait.
func (h *Hub) upTo(s *Subscription) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.following; f == nil || s.following != f || s.waits() {
		return ""
	}
	return later(h.at, s.from).String()
}

// Close ends the reading of events. Subscriptions get nothing from then on. A server without
// subscriptions has a nil hub, which Close leaves alone.
func (h *Hub) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.following; f != nil {
		h.following = nil
		f.stop()
	}
}

// follow reads events until the context ends. If reading fails, it ends all subscriptions.
func (h *Hub) follow(ctx context.Context, f *following) {
	defer f.stop()
	begun := false
	err := task.Guard(func() error {
		if err := h.log.Want(ctx, Use, wantFor); err != nil {
			return err
		}
		at, err := h.log.Ends(ctx) // the log has all events from there on
		if err != nil {
			return err
		}
		begun, f.since = true, time.Now()
		h.mu.Lock()
		h.at = at
		h.mu.Unlock()
		close(f.ready)
		go func() {
			for task.Wait(ctx, wantFor/3) == nil {
				if err := h.log.Want(ctx, Use, wantFor); err != nil && ctx.Err() == nil {
					h.warn(err)
				}
			}
		}()
		return h.log.Tail(ctx, at, func(ctx context.Context, lane int, batch outbox.Batch) error {
			return h.take(ctx, f, lane, batch)
		}, h.warn)
	})
	if ctx.Err() == nil {
		h.warn(err)
		h.broke(f)
	}
	if !begun {
		f.err = err
		close(f.ready)
	}
}

// broke ends all subscriptions, unless another following has taken the place of f.
func (h *Hub) broke(f *following) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.following != f {
		return
	}
	h.following = nil
	h.end(ErrBroken, func(*Subscription) bool { return true })
}

// end ends the subscriptions that are chosen, whose locks are held meanwhile. The caller holds the
// hub's lock.
func (h *Hub) end(err error, chosen func(*Subscription) bool) {
	for _, all := range h.topics {
		for s := range all {
			s.end(err, func() bool { return chosen(s) })
		}
	}
}

func (h *Hub) warn(err error) {
	h.logger.Warn("events for subscriptions cannot be read for now", "error", err)
}

// findings are the comments and statistics that were read for a batch of events.
type findings struct {
	comments map[comment.ID]*comment.Comment // nil for one that is not shown
	counts   map[string]*comment.Statistics
}

// take reads the comments and statistics of a batch that somebody follows, and delivers them.
// Subscribers that join meanwhile may need further ones.
func (h *Hub) take(ctx context.Context, f *following, lane int, batch outbox.Batch) error {
	// Two servers may ask for events at the same time, and the later one notes a gap after the earlier
	// one has begun to follow. Subscribers without a position began just now, and may lack events of
	// that time anyway. The gap may also be that of a rebuild, which repairs statistics: so they are
	// delivered once more.
	early := batch.Missing && len(batch.Improper) == 0 && time.Since(f.since) < outbox.Notice
	if batch.Missing && !early { // this process did not call Want for a long time
		return errMissing
	}
	if err := h.taking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer h.taking.Release(1)
	changes, counted := changesIn(batch.Events), countedIn(batch.Events)
	h.mu.Lock()
	if early {
		h.end(ErrBroken, func(s *Subscription) bool { return s.from != outbox.Position{} })
		for followed := range h.topics {
			if followed.stats && !slices.Contains(counted, followed.product) {
				counted = append(counted, followed.product)
			}
		}
	}
	for _, e := range batch.Events {
		if e.At.After(h.newest) {
			h.newest = e.At
		}
	}
	h.mu.Unlock()
	found := findings{map[comment.ID]*comment.Comment{}, map[string]*comment.Statistics{}}
	for {
		ids, products, done := h.deliver(f, lane, batch.Last, changes, counted, found)
		if done {
			return nil
		}
		if err := h.read(ctx, ids, products, found); err != nil {
			if ctx.Err() == nil {
				h.warn(err)
			}
			if err := task.Wait(ctx, readAgain); err != nil {
				return err
			}
		}
	}
}

// deliver sends changes to subscribers. If it lacks comments or statistics, it sends nothing and
// returns their keys.
func (h *Hub) deliver(f *following, lane int, last uint64, changes []change, counted []string, found findings) (ids []comment.ID, products []string, done bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.following != f {
		return nil, nil, true
	}
	for _, c := range changes {
		if _, known := found.comments[c.id]; !known && len(h.topics[topic{product: c.product}]) > 0 {
			ids = append(ids, c.id)
		}
	}
	for _, product := range counted {
		if _, known := found.counts[product]; !known && len(h.topics[topic{product, true}]) > 0 {
			products = append(products, product)
		}
	}
	if len(ids)+len(products) > 0 {
		return ids, products, false
	}
	for _, c := range changes {
		h.at[lane] = c.at
		shared, here := &cache{}, h.at.String() // the deliveries of a change share one cache
		for s := range h.topics[topic{product: c.product}] {
			if c.number <= s.from[lane] {
				continue
			}
			event := c.eventFor(s.filter, found.comments[c.id])
			if event == nil {
				continue
			}
			position := here
			if s.from != (outbox.Position{}) {
				position = later(h.at, s.from).String()
			}
			s.push(Delivery{Position: position, value: event, cache: shared})
		}
	}
	h.at[lane] = last
	for _, product := range counted {
		if counts := found.counts[product]; counts != nil {
			d := Delivery{value: counts, cache: &cache{}}
			for s := range h.topics[topic{product, true}] {
				s.push(d)
			}
		}
	}
	return nil, nil, true
}

// later returns the later of two positions, in each lane.
func later(a, b outbox.Position) outbox.Position {
	for i := range a {
		a[i] = max(a[i], b[i])
	}
	return a
}

// read reads comments and statistics, and adds them to what was found.
func (h *Hub) read(ctx context.Context, ids []comment.ID, products []string, found findings) error {
	comments, err := h.readComments(ctx, ids)
	if err != nil {
		return err
	}
	maps.Copy(found.comments, comments)
	counts, failed, err := h.readStats(ctx, products)
	for _, err := range failed {
		h.warnOfDamage(err)
	}
	maps.Copy(found.counts, counts)
	return err
}

// readComments reads comments as everyone sees them. A damaged comment counts as gone. Comments
// that a call leaves out, because the table is busy or the others were large, are read by further
// calls.
func (h *Hub) readComments(ctx context.Context, ids []comment.ID) (map[comment.ID]*comment.Comment, error) {
	out := make(map[comment.ID]*comment.Comment, len(ids))
	for len(ids) > 0 {
		some := ids[:min(len(ids), readKeys)]
		found, failed, err := h.reader.CommentsByID(ctx, some, false)
		if err != nil {
			return nil, err
		}
		var left []comment.ID
		for _, id := range some {
			err := failed[id]
			if err != nil && !damaged(err) {
				left = append(left, id)
				continue
			}
			if err != nil {
				h.warnOfDamage(err)
			}
			out[id] = nil
			if c, there := found[id]; there && c.Status == comment.Approved {
				c.Moderation = nil
				out[id] = &c
			}
		}
		if len(left) == len(some) {
			return nil, failed[left[0]]
		}
		ids = append(left, ids[len(some):]...)
	}
	return out, nil
}

// readStats reads the statistics of products. Damaged ones are nil, with their errors in failed.
func (h *Hub) readStats(ctx context.Context, products []string) (out map[string]*comment.Statistics, failed map[string]error, err error) {
	out, failed = make(map[string]*comment.Statistics, len(products)), map[string]error{}
	for some := range slices.Chunk(products, readKeys) {
		var asOf *time.Time
		if upTo, known := h.countedUpTo(ctx); known {
			asOf = &upTo
		}
		found, wrong, err := h.reader.CurrentStatsOf(ctx, some)
		if err != nil {
			return nil, nil, err
		}
		for _, product := range some {
			switch err := wrong[product]; {
			case err != nil && !damaged(err):
				return nil, nil, err
			case err != nil:
				out[product], failed[product] = nil, err
				continue
			}
			counts := found[product].Statistics(comment.Filter{})
			counts.AsOf = asOf
			out[product] = &counts
		}
	}
	return out, failed, nil
}

// damaged reports whether the error of an item persists however often it is read.
func damaged(err error) bool { return comment.KindOf(err) == comment.Internal }

func (h *Hub) warnOfDamage(err error) {
	h.logger.Warn("a damaged item is hidden from subscribers", "error", err)
}
