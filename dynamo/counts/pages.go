package counts

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex/runs"
)

// pages keeps the index behind page numbers up to date in the counting transactions. With a nil
// pages, each product that is counted loses its index.
type pages struct {
	client  call.Querier
	table   string
	merging *merging
}

// heads sets the head of each product's index in the product's ledger. It starts missing indexes of
// products with something to count. An index starts from the statistics alone, so a product with
// languages that share a row waits for a rebuild.
func (p *pages) heads(ctx context.Context, ledgers map[string]ledger, parts map[string][]standing, now time.Time) (err error) {
	if p == nil {
		return nil
	}
	for product, l := range ledgers {
		l.page, _ = runs.DecodeHead(l.head) // an unreadable head counts as missing
		news := func(s standing) bool { return s.news(l.markers[s.ID]) }
		_, shared := l.stats[comment.OtherLanguages]
		if !l.page.Exists() && l.damage == nil && !shared && slices.ContainsFunc(parts[product], news) {
			if l.page, err = p.start(ctx, product, l.stats, now); err != nil {
				return err
			}
		}
		ledgers[product] = l
	}
	return nil
}

// start returns the head of an index that starts anew. The newest marker bounds it.
func (p *pages) start(ctx context.Context, product string, counts comment.Stats, now time.Time) (runs.Head, error) {
	if len(counts) == 0 {
		return startHead(nil, comment.Position{}, now), nil
	}
	input := call.PartitionInput(p.table, layout.Text(layout.ProductPKPrefix+product), layout.MarkerSKPrefix)
	input.ProjectionExpression, input.ScanIndexForward, input.Limit = aws.String(layout.AttrSK), aws.Bool(false), aws.Int32(1)
	output, err := p.client.Query(ctx, input)
	if err != nil {
		return runs.Head{}, call.Wrap(err, "Query of the newest marker of product %q", product)
	}
	newest := comment.Position{}
	for _, it := range output.Items {
		if id, err := idOfMarker(layout.NewReader(it).Text(layout.AttrSK)); err == nil {
			newest = id.Position()
		}
	}
	return startHead(counts, newest, now), nil
}

// startMerges starts the merge that a transaction made due. err is the error of the transaction;
// one with an unknown outcome may have made a merge due too.
func (p *pages) startMerges(ctx context.Context, t tally, err error) {
	if p == nil || err != nil && comment.KindOf(err) == comment.Throttled {
		return
	}
	if t.mergeDue || t.emptied {
		p.merging.due(ctx, t.product)
	}
}

const (
	mergesAtOnce = 2 // of different products
	// mergeTimeout is the maximum duration of a merge. One that splits the runs of a very large
	// product reads all of its markers.
	mergeTimeout = 10 * time.Minute
	// mergesBehind is how many times a merge may fall due during another merge of the product
	// before counting waits.
	mergesBehind = 2
	// longestWait is how long counting waits for a merge. If merges fail or are too slow, the log
	// grows, and lookups cost more.
	longestWait = 5 * time.Second
)

// merger merges the logs of page indexes.
type merger interface {
	// Merge merges the log of a product's index into its runs. It also deletes the remains of an
	// earlier index of the product, even if there is none now. Several processes may call it at
	// once.
	Merge(ctx context.Context, product string) error
}

// merging runs merges in the background.
type merging struct {
	merger merger
	log    *slog.Logger
	slots  chan struct{}

	mu    sync.Mutex
	going map[string]*mergeGoing // the merges by product
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

// due starts a merge of a product, or schedules one after the merge under way. If counting is far
// ahead of merging, it waits, for longestWait at most.
func (m *merging) due(ctx context.Context, product string) {
	m.mu.Lock()
	g, behind := m.going[product], false
	if g == nil {
		m.start(product)
	} else {
		g.due++
		behind = g.due >= mergesBehind
	}
	m.mu.Unlock()
	if behind {
		ctx, cancel := context.WithTimeout(ctx, longestWait)
		defer cancel()
		g.await(ctx)
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
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.going, product)
		close(g.done)
		if g.due > 0 { // the next one fell due meanwhile
			m.start(product)
		}
	}()
}

// await waits until no merge is under way.
func (m *merging) await(ctx context.Context) {
	for ctx.Err() == nil {
		m.mu.Lock()
		var one *mergeGoing // whichever
		for _, one = range m.going {
			break
		}
		m.mu.Unlock()
		if one == nil {
			return
		}
		one.await(ctx)
	}
}

// await waits until the merge is over.
func (g *mergeGoing) await(ctx context.Context) {
	select {
	case <-g.done:
	case <-ctx.Done():
	}
}
