package dynamo

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/task"
)

// A Store remembers the statistics of products that are queried often, for two purposes. They
// steer: the planner chooses by them, and a minute of age does no harm. And they skip: a partition
// that is empty by the statistics is not read, because an empty read costs as much as a full page.
// Only statistics of the last seconds may skip.
//
// The age of statistics counts from the watermark of the stream, not from the moment they were
// read. When the processes that count lag or stop, statistics grow old and nothing is skipped any
// more. A Store does not trust statistics that may be older than its own last write to their
// product, so an author always finds a new comment.
//
// No page waits for statistics. A background fetch reads them for later pages, at most once in
// maxAge for each product. For a product without statistics, the second query starts the fetch. Old
// statistics are fetched again when two queries follow each other within seconds. Statistics that
// were read for an answer steer at no extra cost.

const (
	// clockMargin is how much the clocks of servers may differ. The time of a stream record has a
	// resolution of a second.
	clockMargin = 2 * time.Second
	// recallTimeout bounds a background fetch of statistics, recallsAtOnce how many of them run at
	// once.
	recallTimeout = 2 * time.Second
	recallsAtOnce = 8
	// watermarkAge is how long a fetched watermark is reused.
	watermarkAge = time.Second
	// doubtFor is how long no watermark is trusted after one that was too far ahead. The clock of a
	// process that counts then differs from ours, and a plausible watermark may be as wrong.
	doubtFor = 10 * time.Minute
	// steeringAge is the maximum age of statistics that only steer.
	steeringAge = time.Minute
	// worthwhile is the longest time between two queries of a product for which fetching its
	// statistics again saves more than it costs.
	worthwhile = 5 * time.Second
)

// Watermark knows up to when the statistics are complete.
type Watermark interface {
	// ProcessedUpTo returns a time up to which the statistics include every change of a comment,
	// however old the comment. known is false if not all comments were ever counted, the stream
	// lost records, or some were dead-lettered.
	ProcessedUpTo(ctx context.Context) (upTo time.Time, known bool, err error)
}

// memory holds the statistics that a Store remembers. It is safe for use by many goroutines. The
// nil memory remembers nothing.
type memory struct {
	maxAge time.Duration
	now    func() time.Time
	read   func(ctx context.Context, product string) (counts.Snapshot, error)
	mark   *watermark
	slots  chan struct{} // one for each background fetch
	proof  proof         // that statistics which are not young may be reused

	mu       sync.Mutex // held from when a product is read until it is written
	products *lru.Cache[string, recollection]
	writes   *changes // changes by this Store
	changes  *changes // these, and those reported by the stream
}

// recollection holds the statistics of one product.
type recollection struct {
	stats comment.Stats // nil before any were read
	// newest has the positions of the newest comments as last read; nil before the first read.
	newest  *layout.Bounds
	asOf    time.Time  // the watermark when both were read; zero if it is unknown or too old to skip by
	queried time.Time  // when a query last needed the statistics
	tried   time.Time  // when a background fetch last began
	read    time.Time  // when the statistics were last read
	apart   []apart    // newest comments with some ratings, if not among the newest of all; never changed in place
	answer  lastAnswer // the statistics last read for an answer
}

func newMemory(source Watermark, maxAge time.Duration, changes *changes, read func(context.Context, string) (counts.Snapshot, error)) *memory {
	m := &memory{maxAge: max(0, maxAge), now: time.Now, read: read, slots: make(chan struct{}, recallsAtOnce), writes: newChanges(), changes: changes}
	m.mark = &watermark{source: source, turn: make(chan struct{}, 1)}
	m.products = newLRU[string, recollection](remembered, nil)
	return m
}

// recall returns the knowledge of a query's product. It starts a background fetch of its statistics
// if the product is queried often enough, and no fetch has just begun. A list without conditions,
// ordered by date, does not count as a query: its only partition is hardly ever empty. Statistics
// help it only to know where the list ends.
func (m *memory) recall(q comment.Query) planner.Knowledge {
	if m == nil {
		return planner.Knowledge{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r, _ := m.products.Get(q.Product)
	known := r.knowledge(now, m.maxAge, m.writes.last(q.Product))
	if len(q.Filter.Conditions()) == 0 && !q.Order.Keyed() && q.Slice.Rank() == 0 && !q.Numbering.Links {
		return known
	}
	again := !r.queried.IsZero()
	worth := again && r.read.IsZero() || now.Sub(r.queried) <= worthwhile
	if worth && now.Sub(r.tried) >= cmp.Or(m.maxAge, steeringAge) {
		select {
		case m.slots <- struct{}{}:
			r.tried = now
			go func() {
				defer func() { <-m.slots }()
				// An error does no harm: without statistics, plans read every partition.
				_ = task.Guard(func() error { return m.fetch(context.Background(), q.Product) })
			}()
		default: // too many fetches are running
		}
	}
	r.queried = now
	m.products.Add(q.Product, r)
	return known
}

// peek returns the knowledge of a product. It does not count as a query, and fetches nothing.
func (m *memory) peek(product string) planner.Knowledge {
	if m == nil {
		return planner.Knowledge{}
	}
	r, _ := m.products.Peek(product)
	return r.knowledge(m.now(), m.maxAge, m.writes.last(product))
}

// knowledge returns what a plan may use now. Statistics are trusted if they are young and include
// this Store's last write, at written.
func (r recollection) knowledge(now time.Time, maxAge time.Duration, written time.Time) planner.Knowledge {
	if r.asOf.IsZero() {
		return planner.Knowledge{Stats: r.stats, Newest: r.newest}
	}
	age := ageOf(now, r.asOf, r.read)
	trusted := age <= maxAge && r.asOf.After(written.Add(clockMargin))
	return planner.Knowledge{Stats: r.stats, Newest: r.newest, AsOf: r.asOf, Age: age, Trusted: trusted}
}

// ageOf returns the age of what was read by this process, and is complete up to a watermark. If the
// clock was set back since, the watermark looks too young; the time since the read is by the
// monotonic clock.
func ageOf(now, asOf, read time.Time) time.Duration {
	return max(task.Elapsed(asOf, now), task.Elapsed(read, now))
}

// lastAnswer holds the statistics of a product that were last read for an answer. That read was
// eventually consistent, so no partition is skipped by it.
type lastAnswer struct {
	counts.Snapshot           // without Stats before the first read
	asOf, began     time.Time // the watermark, and when the read began
}

// learnFromAnswer remembers statistics that were read for an answer without a watermark. They only
// steer, and do not replace trusted ones.
func (m *memory) learnFromAnswer(product string, stats comment.Stats) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r, known := m.products.Get(product)
	if now.Sub(r.asOf) > m.maxAge {
		r.stats, r.asOf, r.read = stats, time.Time{}, now
		if !known {
			product = strings.Clone(product) // else it would keep the whole answer in memory
		}
		m.products.Add(product, r)
	}
}

// wrote notes that this Store has written to a product, or may have.
func (m *memory) wrote(product string) {
	if m != nil {
		m.writes.note(product, m.now())
	}
}

// noteChange notes a change from the stream: the comment at a position is now in the cell. If the
// remembered statistics have no comments in the cell, they are no longer trusted. Otherwise the
// comment may be the newest of the cell. A nil cell, of a deleted comment, changes nothing: counts
// that are too high hide no comment.
func (m *memory) noteChange(product string, position comment.Position, cell *comment.Cell) {
	if m == nil || cell == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.products.Peek(product)
	if !known {
		return
	}
	row := r.stats[cell.Language]
	if row.Sets()[cell.Traits][cell.Rating-1] == 0 {
		r.asOf = time.Time{}
	} else {
		r.newest = r.newest.Clone()
		r.newest.Enter(cell.Clone(), row.Counts[cell.Rating-1], position)
	}
	m.products.Add(product, r)
}

// fetch reads the statistics of a product. It reads the watermark first, so the statistics include
// every change up to it. If they could not be trusted and the remembered ones still steer, it does
// not read them.
func (m *memory) fetch(ctx context.Context, product string) error {
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	var asOf time.Time
	if m.maxAge > 0 {
		upTo, known, err := m.mark.upTo(ctx)
		if err != nil {
			return err
		}
		if known && m.now().Sub(upTo) <= m.maxAge {
			asOf = upTo
		}
	}
	if r, _ := m.products.Peek(product); asOf.IsZero() && r.stats != nil && m.now().Sub(r.read) < steeringAge {
		return nil
	}
	changes := m.changes.number(product)
	read, err := m.read(ctx, product)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes.number(product) != changes {
		asOf = time.Time{} // they may lack a change that the stream has reported meanwhile
	}
	r, _ := m.products.Get(product)
	r.stats, r.newest, r.asOf, r.read = read.Stats, read.Newest, asOf, m.now()
	m.products.Add(product, r)
	return nil
}

// watermark caches a Watermark for watermarkAge.
type watermark struct {
	source Watermark

	turn  chan struct{} // held during a call of source; other callers wait for its answer
	read  time.Time
	at    time.Time
	known bool
	ahead time.Time // when a watermark was last too far ahead of this clock; zero if never
}

// upTo returns the watermark, read at most watermarkAge ago.
func (w *watermark) upTo(ctx context.Context) (time.Time, bool, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return time.Time{}, false, ctx.Err()
	}
	if time.Since(w.read) < watermarkAge {
		return w.at, w.known, nil
	}
	began := time.Now()
	at, known, err := w.source.ProcessedUpTo(ctx)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return time.Time{}, false, err // the caller left: that says nothing about the watermark, so it is not cached
	}
	if at.Sub(began) > clockMargin {
		w.ahead = began
	}
	doubtful := !w.ahead.IsZero() && began.Sub(w.ahead) < doubtFor
	w.at, w.known, w.read = earlier(at, began), known && err == nil && !doubtful, time.Now()
	return w.at, w.known, err
}

// apart is the newest comment with one of some ratings, which is not among the newest comments with
// any rating.
type apart struct {
	ratings  uint8 // a bit for each rating, as ratingBits sets it
	position comment.Position
	among    int // how many of the newest comments are known not to include it
}

// apartKept is how many such comments are remembered for one product.
const apartKept = 4
