package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/task"
)

// A Store remembers the statistics of products that are queried often. They serve two purposes.
// They steer: the planner chooses by them, and a minute of age does no harm. And they skip: a
// partition that they say is empty is not read, because a read that finds nothing costs as much as
// one that finds a page. Only statistics of the last seconds may skip.
//
// The age of statistics counts from the watermark of the stream, not from the moment they were
// read. When the processes that count lag or stop, statistics grow old and nothing is skipped any
// more. A Store knows its own writes at once: it does not trust statistics that may be older than
// the last write to their product, so an author always finds a new comment.
//
// No page waits for statistics. They are fetched in the background for the pages to come, for each
// product at most once in maxAge. For a product without statistics the second query fetches them;
// old ones are fetched again when two queries follow each other within seconds. Statistics that
// were read for an answer steer at no extra cost.

const (
	// clockMargin is how much the clocks of servers may differ. The time of a stream record has a
	// resolution of a second.
	clockMargin = 2 * time.Second
	// recallTimeout bounds a background fetch of statistics, recallsAtOnce how many of them run at
	// once.
	recallTimeout = 2 * time.Second
	recallsAtOnce = 8
	// watermarkAge is the time for which a watermark that was fetched is used again.
	watermarkAge = time.Second
	// doubtFor is how long no watermark is trusted after one that was too far ahead. A process that
	// counts has another clock than ours: a watermark that seems right may be late by as much.
	doubtFor = 10 * time.Minute
	// steeringAge is the maximum age of statistics that only steer.
	steeringAge = time.Minute
	// worthwhile is the longest time between two queries of a product for which fetching its
	// statistics again saves more than it costs.
	worthwhile = 5 * time.Second
)

// Watermark tells up to when the statistics are complete.
type Watermark interface {
	// ProcessedUpTo is a moment up to which every change of a comment is in the statistics, however
	// old the comment. It is false when there is none: when not all comments were ever counted, the
	// stream lost records, or some were dead-lettered.
	ProcessedUpTo(ctx context.Context) (upTo time.Time, known bool, err error)
}

// memory holds the statistics that a Store remembers. It is safe for use by many goroutines; the
// nil memory knows nothing.
type memory struct {
	maxAge time.Duration
	now    func() time.Time
	read   func(ctx context.Context, product string) (counts.Snapshot, error)
	mark   *watermark
	slots  chan struct{} // one for each background fetch
	// unchanged is proof.unchanged; nil if only young counts are used again.
	unchanged func(read, changed time.Time) bool

	mu       sync.Mutex
	products *simplelru.LRU[string, recollection]
	writes   *changes // changes by this Store
	heard    *changes // changes that the stream told of
}

// recollection holds the statistics of one product.
type recollection struct {
	stats comment.Stats // nil before any were read
	// newest are the positions of the newest comments as they were last read; nil before any were.
	newest  *layout.Bounds
	asOf    time.Time // the watermark when both were read; zero when it is unknown or too old to skip by them
	queried time.Time // when a query last had use for the statistics
	tried   time.Time // when a background fetch last began
	read    time.Time // when the statistics were last read
	apart   aparts    // newest comments that no page showed
	told    told      // what was last read for an answer
}

func newMemory(source Watermark, maxAge time.Duration, read func(context.Context, string) (counts.Snapshot, error)) *memory {
	m := &memory{maxAge: max(0, maxAge), now: time.Now, read: read, slots: make(chan struct{}, recallsAtOnce)}
	m.mark = &watermark{source: source, now: time.Now, turn: make(chan struct{}, 1)}
	m.products = newLRU[string, recollection](remembered, nil)
	m.writes, m.heard = newChanges(), newChanges()
	return m
}

// recall returns the knowledge of a query's product, and starts a background fetch if its
// statistics are due. A list without conditions, in an order by date, has no use for statistics, as
// its only partition is hardly ever empty. It needs them only to know where the list ends.
func (m *memory) recall(q comment.Query) planner.Knowledge {
	if m == nil {
		return planner.Knowledge{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r, _ := m.products.Get(q.Product)
	known := r.knowledge(now, m.maxAge, m.writes.last(q.Product))
	if len(q.Filter.Conditions()) == 0 && len(q.Order.Links(q.Filter)) == 1 && q.Slice.Rank() == 0 && !q.Numbering.Links {
		return known
	}
	if r.due(now, m.maxAge) && m.refresh(q.Product) {
		r.tried = now
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
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Peek(product)
	return r.knowledge(m.now(), m.maxAge, m.writes.last(product))
}

// knowledge is what a plan may know at a moment. Statistics are trusted when they are young and
// include this Store's last write.
func (r recollection) knowledge(now time.Time, maxAge time.Duration, written time.Time) planner.Knowledge {
	if r.asOf.IsZero() {
		return planner.Knowledge{Stats: r.stats, Newest: r.newest}
	}
	age := now.Sub(r.asOf)
	trusted := age <= maxAge && r.asOf.After(written.Add(clockMargin))
	return planner.Knowledge{Stats: r.stats, Newest: r.newest, AsOf: r.asOf, Age: age, Trusted: trusted}
}

// due tells whether statistics should be fetched: the product is queried often enough, and no fetch
// has just begun.
func (r recollection) due(now time.Time, maxAge time.Duration) bool {
	again := !r.queried.IsZero()
	worth := again && r.read.IsZero() || now.Sub(r.queried) <= worthwhile
	return worth && now.Sub(r.tried) >= cmp.Or(maxAge, steeringAge)
}

// told is what the statistics of a product said when they were read for an answer. That read was
// eventually consistent, so no partition is skipped by it.
type told struct {
	counts.Snapshot           // no Stats before any were read
	asOf, began     time.Time // the watermark, and when the read began
}

// shown remembers statistics that were read for an answer. Their watermark is unknown, so they only
// steer, and do not replace trusted ones.
func (m *memory) shown(product string, stats comment.Stats) {
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
			product = strings.Clone(product) // of an answer, whose other strings are not needed
		}
		m.products.Add(product, r)
	}
}

// wrote notes that this Store has written to a product, or may have.
func (m *memory) wrote(product string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes.note(product, m.now())
}

// noticed notes a change from the stream: the comment at a position of the product is now in the
// cell, nil for a deleted one. Statistics that say that the cell is empty are not trusted any more,
// and those that say that it has none so new are corrected.
func (m *memory) noticed(product string, position comment.Position, cell *comment.Cell) {
	if m == nil || cell == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard.note(product, m.now())
	r, known := m.products.Peek(product)
	if !known {
		return
	}
	row := r.stats[cell.Language]
	if row.Sets()[cell.Traits][cell.Rating-1] == 0 {
		r.asOf = time.Time{}
	} else {
		r.newest = r.newest.Clone()
		r.newest.Enter(*cell, row.Counts[cell.Rating-1], position)
	}
	m.products.Add(product, r)
}

// refresh fetches statistics in the background. It returns false when too many fetches are running.
func (m *memory) refresh(product string) bool {
	select {
	case m.slots <- struct{}{}:
	default:
		return false
	}
	go func() {
		defer func() { <-m.slots }()
		// An error does no harm: without statistics, plans read every partition.
		_ = task.Guard(func() error { return m.fetch(context.Background(), product) })
	}()
	return true
}

// fetch reads the statistics of a product. It asks for the watermark first, so the statistics
// include every change up to it. When they could not be trusted, and the remembered ones steer as
// well, it reads nothing.
func (m *memory) fetch(ctx context.Context, product string) error {
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	upTo, err := m.upTo(ctx)
	if err != nil {
		return err
	}
	if upTo.IsZero() && m.steers(product) {
		return nil
	}
	heard := m.heard.number(product)
	read, err := m.read(ctx, product)
	if err != nil {
		return err
	}
	m.learn(product, read, upTo, heard)
	return nil
}

// learn remembers statistics that were read consistently, after the watermark was upTo. heard is
// the number of changes that the stream had reported by then.
func (m *memory) learn(product string, read counts.Snapshot, upTo time.Time, heard uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heard.number(product) != heard {
		upTo = time.Time{} // they may be older than a change that the stream has told of meanwhile
	}
	r, _ := m.products.Get(product)
	r.stats, r.newest, r.asOf, r.read = read.Stats, read.Newest, upTo, m.now()
	m.products.Add(product, r)
}

// upTo is the watermark for statistics that are read from now on, zero when it is unknown or older
// than maxAge.
func (m *memory) upTo(ctx context.Context) (time.Time, error) {
	if m.maxAge == 0 {
		return time.Time{}, nil
	}
	upTo, known, err := m.mark.upTo(ctx)
	if err != nil || !known || m.now().Sub(upTo) > m.maxAge {
		return time.Time{}, err
	}
	return upTo, nil
}

// steers tells whether the remembered statistics of a product are good enough to choose plans by.
func (m *memory) steers(product string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Get(product)
	return r.stats != nil && m.now().Sub(r.read) < steeringAge
}

// watermark asks a Watermark at most once in watermarkAge.
type watermark struct {
	source Watermark
	now    func() time.Time

	turn  chan struct{} // held while the source is asked; other callers wait for its answer
	read  time.Time
	at    time.Time
	known bool
	ahead time.Time // when a watermark was last too far ahead of this clock; zero for never
}

// upTo is the watermark, at most watermarkAge old.
func (w *watermark) upTo(ctx context.Context) (time.Time, bool, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return time.Time{}, false, ctx.Err()
	}
	if w.now().Sub(w.read) < watermarkAge {
		return w.at, w.known, nil
	}
	began := w.now()
	at, known, err := w.source.ProcessedUpTo(ctx)
	if at.Sub(began) > clockMargin {
		w.ahead = began
	}
	doubtful := !w.ahead.IsZero() && began.Sub(w.ahead) < doubtFor
	w.at, w.known, w.read = earlier(at, began), known && err == nil && !doubtful, w.now()
	return w.at, w.known, err
}

// apart is the newest comment with one of some ratings, which is not among the newest of all.
type apart struct {
	ratings  uint8 // a bit for each rating, as ratingBits sets it
	position comment.Position
	among    int // the comment is not among so many of the newest ones
}

// apartKept is for how many sets of ratings of a product this is remembered.
const apartKept = 4

// aparts are such comments of one product. They are not changed once they are made.
type aparts []apart

// with returns the comments and one more, in the place of an earlier one with the same ratings.
func (all aparts) with(one apart) aparts {
	others := slices.DeleteFunc(slices.Clone(all), func(old apart) bool { return old.ratings == one.ratings })
	return append(others[max(0, len(others)-apartKept+1):], one)
}

// has reports whether a comment is known not to be among the newest n of the product; among is n.
// The comment is the newest with one of some ratings, and has the given position.
func (all aparts) has(ratings uint8, position comment.Position, among int) bool {
	return slices.ContainsFunc(all, func(a apart) bool {
		return a.ratings == ratings && a.position == position && a.among >= among
	})
}
