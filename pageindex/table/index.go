// Package table is the page index inside the comments' own table. It reads and merges the parts
// that package runs defines and the transactions of package counts write.
//
// The head of a product's index is an attribute of its statistics. All other items are in a
// separate partition:
//
//	R#<product>  K#<version>-<number>  a chunk of runs
//	R#<product>  L                     the directory, with the runs of a small product
//	R#<product>  L#<number>            an entry of the log
package table

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
)

// Index finds places in the lists of a table's products, and merges the logs of their indexes. It
// is safe for concurrent use, by several processes too.
type Index struct {
	client  client
	table   string
	unsplit func(product string)
}

var _ pageindex.Index = (*Index)(nil)

// New returns the index of a table, which must match layout.Definition.
func New(client client, table string) *Index {
	return &Index{client: client, table: table, unsplit: func(string) {}}
}

// OnUnsplit sets a function to call when a lookup fails because of a far too large run, which a
// merge should have split. That merge may have failed or been killed, and the next one may be due
// only after many changes. Call OnUnsplit before the first lookup.
func (x *Index) OnUnsplit(merge func(product string)) { x.unsplit = merge }

const (
	// readThrough is the number of comments up to which a product needs no index: a lookup reads
	// them all.
	readThrough = 256
	// tries is how often parts are read that do not fit together, and firstWait the wait before the
	// second attempt; it doubles each time. All attempts but the first read consistently.
	tries     = 5
	firstWait = 5 * time.Millisecond
)

// Find implements pageindex.Index. It reads eventually consistently, unless the answers do not fit
// together. Exact targets, and those at a position, take one more read (confirm). Targets at a
// comment do not: the comments themselves are read afterwards. Find does not confirm the bounds of
// a range of dates. Changes within some milliseconds that cancel out in the counts of a run may
// shift such a bound by as many comments.
func (x *Index) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	l := finding{
		list:    list,
		targets: targets,
		unsplit: x.unsplit,
		reading: &reading{client: x.client, table: x.table, product: list.Product},
	}
	for _, t := range targets {
		l.sharp = l.sharp || t.Exact && !t.AtComment || t.At != nil
	}
	found, err := untorn(ctx, func() (pageindex.Found, error) {
		found, err := l.find(ctx)
		l.consistent = true
		return found, err
	})
	if errors.Is(err, runs.ErrTorn) {
		err = comment.Errorf(comment.Unavailable,
			"the page numbers of product %q do not agree with its comments: ask again in a moment; if that does not help, run talkback rebuild --pages", list.Product)
	}
	if err != nil {
		return pageindex.Found{}, err
	}
	found.Cost = l.cost
	return found, nil
}

// untorn reads again while parts of an index do not fit together.
func untorn[T any](ctx context.Context, read func() (T, error)) (all T, err error) {
	for try := range tries {
		if try > 0 {
			if err := task.Wait(ctx, firstWait<<(try-1)); err != nil {
				return all, err
			}
		}
		if all, err = read(); !errors.Is(err, runs.ErrTorn) {
			break
		}
	}
	return all, err
}

// finding is one call of Find.
type finding struct {
	*reading
	list    pageindex.List
	targets []pageindex.Target
	unsplit func(product string)
}

// find makes one attempt.
func (l *finding) find(ctx context.Context) (pageindex.Found, error) {
	var head runs.Head
	var changes int64
	var stored stored
	err := l.wave(ctx,
		func(ctx context.Context) (err error) { head, changes, err = l.statistics(ctx); return err },
		func(ctx context.Context) (err error) { stored, err = l.stored(ctx); return err })
	if err != nil {
		return pageindex.Found{}, err
	}
	if !head.Exists() {
		return l.findUnindexed(ctx)
	}
	view, err := runs.NewView(head, stored.directory, stored.log)
	if err != nil {
		return pageindex.Found{}, err
	}
	var revealed []runs.Range
	for {
		found, needs := view.Locate(l.list, l.targets)
		switch {
		case needs.None():
			return found, l.confirm(ctx, head, changes, revealed)
		case needs.Unsplit:
			l.unsplit(l.product)
			return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the page numbers of product %q are being built: ask again in a moment; cursors work meanwhile", l.product)
		}
		if err := l.fill(ctx, view, needs); err != nil {
			return pageindex.Found{}, err
		}
		revealed = append(revealed, needs.Markers...)
	}
}

// confirm checks that the markers were read in the state of the head. That they add up to the run's
// counts proves nothing, since changes may cancel out. The error is runs.ErrTorn if they may be
// from another state.
func (l *finding) confirm(ctx context.Context, head runs.Head, changes int64, revealed []runs.Range) error {
	if !l.sharp || len(revealed) == 0 {
		return nil
	}
	l.consistent = true
	var now runs.Head
	var changesNow int64
	err := l.wave(ctx, func(ctx context.Context) (err error) { now, changesNow, err = l.statistics(ctx); return err })
	if err != nil || changesNow == changes {
		return err
	}
	var log []runs.Entry
	err = l.wave(ctx, func(ctx context.Context) (err error) { log, err = l.logAfter(ctx, head.Last); return err })
	if err == nil && !head.Untouched(revealed, now, log) {
		err = runs.ErrTorn
	}
	return err
}

// fill reads the needed parts into a view, in one wave.
func (l *finding) fill(ctx context.Context, view *runs.View, needs runs.Needs) error {
	var mu sync.Mutex
	var reads []func(context.Context) error
	for keys := range slices.Chunk(needs.Chunks, call.MaxKeysPerGet) {
		reads = append(reads, func(ctx context.Context) error {
			return l.load(ctx, keys, func(key runs.Key, chunk runs.Chunk) error {
				mu.Lock()
				defer mu.Unlock()
				return view.Load(key, chunk)
			})
		})
	}
	for _, between := range needs.Markers {
		reads = append(reads, func(ctx context.Context) error {
			markers, err := l.markers(ctx, between, 0)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				return err
			}
			return view.Reveal(between, markers)
		})
	}
	return l.wave(ctx, reads...)
}

// findUnindexed answers for a small product without an index.
func (l *finding) findUnindexed(ctx context.Context) (pageindex.Found, error) {
	var markers []runs.Marker
	err := l.wave(ctx, func(ctx context.Context) (err error) {
		markers, err = l.markers(ctx, runs.Range{Last: comment.MaxPosition}, readThrough)
		return err
	})
	if errors.Is(err, errTooMany) {
		return pageindex.Found{}, comment.Errorf(comment.Unavailable,
			"product %q has no page numbers yet: they are built once one of its comments changes, or by talkback rebuild --pages; cursors work meanwhile", l.product)
	}
	if err != nil {
		return pageindex.Found{}, err
	}
	found, _ := runs.ViewOf(markers).Locate(l.list, l.targets)
	return found, nil
}

// Merge merges the log of a product's index into its runs, and deletes the remains of an earlier
// index, even if the product has none now. Several processes may call it at once: of two that merge
// the same, one changes nothing.
func (x *Index) Merge(ctx context.Context, product string) error {
	m := merging{&reading{client: x.client, table: x.table, product: product, consistent: true}}
	_, err := untorn(ctx, func() (any, error) { return nil, m.merge(ctx) })
	return call.Wrap(err, "merge of the page index of product %q", product)
}

// Runs returns all runs of a product's index in ascending order, the head last, all of one moment;
// none if the product has no index. An error that wraps runs.ErrTorn means that parts of the index
// are missing, cannot be decoded or do not fit together.
func (x *Index) Runs(ctx context.Context, product string) (all []runs.Run, err error) {
	r := &reading{client: x.client, table: x.table, product: product, consistent: true}
	all, err = untorn(ctx, func() ([]runs.Run, error) {
		head, _, err := r.statistics(ctx)
		if err != nil || !head.Exists() {
			return nil, err
		}
		stored, err := r.stored(ctx)
		if err != nil {
			return nil, err
		}
		view, err := runs.NewView(head, stored.directory, stored.log)
		if err != nil {
			return nil, err
		}
		if err := r.load(ctx, view.Unloaded(), view.Load); err != nil {
			return nil, err
		}
		return view.Runs(), nil
	})
	return all, call.Wrap(err, "page index of product %q", product)
}
