package counts

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/task"
)

const (
	// mergesAtOnce is how many merges of different products run at once.
	mergesAtOnce = 2
	// mergeTimeout is the maximum length of a merge. One that splits the runs of a very large
	// product reads all of its markers.
	mergeTimeout = 10 * time.Minute
	// mergesBehind is how many times a merge may fall due while one of the same product is under
	// way. After that, counting waits.
	mergesBehind = 2
	// longestWait is how long counting waits for a merge. If merges fail or are too slow, the log
	// grows, and lookups cost more.
	longestWait = 5 * time.Second
)

// merger merges the logs of page indexes.
type merger interface {
	// Merge merges the log of a product's index into its runs. It deletes what is left of an index
	// that the product had before, also if it has none now. Several processes may call it at once.
	Merge(ctx context.Context, product string) error
}

// merging runs merges beside the counting.
type merging struct {
	merger merger
	log    *slog.Logger
	slots  chan struct{}

	mu    sync.Mutex
	going map[string]*mergeGoing // by product
}

// mergeGoing is a merge that waits or is under way.
type mergeGoing struct {
	done chan struct{}
	// due is how often a merge fell due since this one began.
	due int
}

func newMerging(m merger, log *slog.Logger) *merging {
	return &merging{merger: m, log: log, slots: make(chan struct{}, mergesAtOnce), going: map[string]*mergeGoing{}}
}

// due starts a merge of a product, or schedules another after the one that is under way. If
// counting is far ahead of merging, it waits for a while.
func (m *merging) due(ctx context.Context, product string) {
	if behind := m.note(product); behind != nil {
		ctx, cancel := context.WithTimeout(ctx, longestWait)
		defer cancel()
		behind.await(ctx)
	}
}

// begin starts a merge of a product, unless one is under way.
func (m *merging) begin(product string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.going[product] == nil {
		m.start(product)
	}
}

// note notes that a merge is due. It returns the merge that counting is far ahead of, else nil.
func (m *merging) note(product string) (behind *mergeGoing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.going[product]
	if g == nil {
		m.start(product)
		return nil
	}
	if g.due++; g.due < mergesBehind {
		return nil
	}
	return g
}

// start begins a merge. The caller holds the lock.
func (m *merging) start(product string) {
	g := &mergeGoing{done: make(chan struct{})}
	m.going[product] = g
	go func() {
		m.slots <- struct{}{}
		defer func() { <-m.slots }()
		ctx, cancel := context.WithTimeout(context.Background(), mergeTimeout)
		defer cancel()
		if err := task.Guard(func() error { return m.merger.Merge(ctx, product) }); err != nil {
			m.log.Warn("the log of a page index cannot be merged; the next merge brings it in", "product", product, "error", err)
		}
		m.ended(product, g)
	}()
}

// ended notes that a merge is over, and starts the next if one fell due meanwhile.
func (m *merging) ended(product string, g *mergeGoing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.going, product)
	close(g.done)
	if g.due > 0 {
		m.start(product)
	}
}

// await waits until no merge is under way.
func (m *merging) await(ctx context.Context) {
	for ctx.Err() == nil {
		g := m.any()
		if g == nil {
			return
		}
		g.await(ctx)
	}
}

// any returns a merge that is under way, nil if there is none.
func (m *merging) any() *mergeGoing {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.going {
		return g
	}
	return nil
}

// await waits until the merge is over.
func (g *mergeGoing) await(ctx context.Context) {
	select {
	case <-g.done:
	case <-ctx.Done():
	}
}
