package dynamo

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/planner"
)

// A plan is chosen by what a product's statistics say, and leaves out what they say is empty, since a read that finds
// nothing costs as much as one that finds a page. So a Store remembers the statistics of products that are asked for often.
// For choosing, old ones will do: those of a minute ago steer as well. For leaving out they have to be seconds old at most.
//
// How old statistics are counts from the moment up to which the stream was processed when they were read: when those who
// count lag or are gone, statistics grow old and nothing is left out any more. A server's own writes are known to it at
// once, so that whoever writes there finds his comment: until statistics are there that know of the write, those of its
// product are not trusted.
//
// No page waits for any of this. Statistics are read beside it, for the pages to come, and at most once in their age for
// each product. A product of which nothing is known is worth it when it is asked for again, however late; one whose
// statistics have only grown old when it is asked for again within seconds. Those that were read to be shown steer for nothing.

const (
	// clockMargin is by how much clocks may differ that tell when a comment was written and how far the stream was
	// processed. A record of the stream tells its time to the second.
	clockMargin = 2 * time.Second
	// recallTimeout bounds what is read for later pages, and recallsAtOnce how many such reads are under way.
	recallTimeout = 2 * time.Second
	recallsAtOnce = 8
	// watermarkAge is how long a watermark is good enough.
	watermarkAge = time.Second
	// steeringAge is how old statistics become that only steer.
	steeringAge = time.Minute
	// worthwhile is how soon a product has to be asked for again for its statistics to be read anew: else that costs more
	// than it saves.
	worthwhile = 5 * time.Second
)

// Watermark tells how far statistics follow the table.
type Watermark interface {
	// ProcessedUpTo is a moment up to which every change of a comment is in the statistics, however old the comment. It is
	// false when there is none: when not all comments were ever counted, the stream lost records, or some were dead-lettered.
	ProcessedUpTo(ctx context.Context) (upTo time.Time, known bool, err error)
}

// memory is what a Store remembers of counts.
type memory struct {
	maxAge time.Duration
	now    func() time.Time
	read   func(ctx context.Context, product string) (comment.Stats, error)
	mark   *watermark
	places chan struct{} // taken by each reading of statistics under way

	mu       sync.Mutex
	products *simplelru.LRU[string, recollection]
	writes   *changes // by this Store
	heard    *changes // of which the stream told
}

// recollection is what is remembered of one product.
type recollection struct {
	stats comment.Stats // nil before any were read
	asOf  time.Time     // up to which the stats know all changes; zero when that is unknown, or too long ago to trust them
	asked time.Time     // when a plan would last have had use for them
	tried time.Time     // when they were last looked after
	read  time.Time     // when they were last read
}

func newMemory(source Watermark, maxAge time.Duration, read func(context.Context, string) (comment.Stats, error)) *memory {
	m := &memory{maxAge: max(0, maxAge), now: time.Now, read: read, places: make(chan struct{}, recallsAtOnce)}
	m.mark = &watermark{source: source, now: time.Now, turn: make(chan struct{}, 1)}
	m.products = newLRU[string, recollection](remembered, nil)
	m.writes, m.heard = newChanges(), newChanges()
	return m
}

// recall is what is known of the counts of the product that a question is about. If that may be of use, and has been
// before, it is brought up to date for the questions to come. A question without languages and ratings has none for it: its
// only partition is hardly ever empty.
func (m *memory) recall(q comment.Query) planner.Known {
	if m == nil {
		return planner.Known{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r, _ := m.products.Get(q.Product)
	known := r.known(now, m.maxAge, m.writes.last(q.Product))
	if len(q.Filter.Languages)+len(q.Filter.Ratings) == 0 {
		return known
	}
	if r.due(now, m.maxAge) && m.refresh(q.Product) {
		r.tried = now
	}
	r.asked = now
	m.products.Add(q.Product, r)
	return known
}

// known is what a plan may know at a moment. It trusts what is young and was counted after the last write of our own.
func (r recollection) known(now time.Time, maxAge time.Duration, written time.Time) planner.Known {
	if r.asOf.IsZero() {
		return planner.Known{Stats: r.stats}
	}
	age := now.Sub(r.asOf)
	trusted := age <= maxAge && r.asOf.After(written.Add(clockMargin))
	return planner.Known{Stats: r.stats, AsOf: r.asOf, Age: age, Trusted: trusted}
}

// due tells whether statistics should be looked after: the product is asked for often enough, and that was not just done.
func (r recollection) due(now time.Time, maxAge time.Duration) bool {
	again := !r.asked.IsZero()
	worth := again && r.read.IsZero() || now.Sub(r.asked) <= worthwhile
	return worth && now.Sub(r.tried) >= cmp.Or(maxAge, steeringAge)
}

// shown takes note of statistics that were read to be shown. How much they know is not said, so they only steer, and do
// not take the place of any that may be trusted.
func (m *memory) shown(product string, stats comment.Stats) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r, _ := m.products.Get(product)
	if now.Sub(r.asOf) > m.maxAge {
		r.stats, r.asOf, r.read = stats, time.Time{}, now
		m.products.Add(product, r)
	}
}

// wrote notes that a product was just written to, or may have been.
func (m *memory) wrote(product string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes.note(product, m.now())
}

// noticed notes that the stream told of a comment of a product, which is now in a cell; nil for one that was deleted. What
// says that the cell is empty is not trusted any more.
func (m *memory) noticed(product string, cell *comment.Cell) {
	if m == nil || cell == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard.note(product, m.now())
	if r, known := m.products.Peek(product); known && r.stats[cell.Language][cell.Rating-1] == 0 {
		r.asOf = time.Time{}
		m.products.Add(product, r)
	}
}

// refresh reads statistics in the background, unless enough others are being read.
func (m *memory) refresh(product string) bool {
	select {
	case m.places <- struct{}{}:
	default:
		return false
	}
	go func() {
		defer func() { <-m.places }()
		// An error is of no concern: plans read what they would have left out, and whoever is asked for it will say so.
		_ = call.Recover(func() error { return m.fetch(context.Background(), product) })()
	}()
	return true
}

// fetch reads the statistics of a product, unless they could not be trusted and those that are there steer as well. How far
// the stream was processed is asked first, so that they know all of that.
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
	stats, err := m.read(ctx, product)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heard.number(product) != heard {
		upTo = time.Time{} // they may be of before a change that the stream told of
	}
	r, _ := m.products.Get(product)
	r.stats, r.asOf, r.read = stats, upTo, m.now()
	m.products.Add(product, r)
	return nil
}

// upTo is a moment up to which statistics that are read from now on know all changes, zero when there is none or it is too
// long ago to trust them.
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

// steers tells whether statistics of the product are there that are good enough to choose plans by.
func (m *memory) steers(product string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _ := m.products.Get(product)
	return r.stats != nil && m.now().Sub(r.read) < steeringAge
}

// watermark remembers for a moment how far the stream was processed.
type watermark struct {
	source Watermark
	now    func() time.Time

	turn  chan struct{} // taken while the source is asked: whoever comes meanwhile waits for its answer
	asked time.Time
	at    time.Time
	known bool
}

// upTo is how far the stream was processed, or how far it was within the last second.
func (w *watermark) upTo(ctx context.Context) (time.Time, bool, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return time.Time{}, false, ctx.Err()
	}
	if w.now().Sub(w.asked) < watermarkAge {
		return w.at, w.known, nil
	}
	began := w.now()
	at, known, err := w.source.ProcessedUpTo(ctx)
	w.at, w.known, w.asked = notAhead(at, began), known && err == nil && at.Sub(began) <= clockMargin, w.now()
	return w.at, w.known, err
}

// notAhead is a time by a clock that may be ahead of ours, now at the latest: nothing is known of what is still to come.
func notAhead(at, now time.Time) time.Time {
	if at.After(now) {
		return now
	}
	return at
}
