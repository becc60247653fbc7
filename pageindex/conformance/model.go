package conformance

import (
	"context"
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// comments are the current entries of comments.
type comments map[key]pageindex.Entry

type key struct {
	product  string
	position comment.Position
}

// apply applies entries.
func (c comments) apply(entries []pageindex.Entry) {
	for _, entry := range entries {
		at := key{entry.Product, entry.Position}
		if before, known := c[at]; !known || entry.Follows > before.Follows {
			c[at] = entry
		}
	}
}

// read returns the comments of a list.
func (c comments) read(list pageindex.List) whole {
	w := whole{order: list.Order}
	for at, entry := range c {
		if at.product != list.Product || entry.Cell == nil {
			continue
		}
		low, high := list.Filter.Range()
		if list.Filter.AllowsCell(*entry.Cell) && at.position.Compare(low) >= 0 && at.position.Compare(high) <= 0 {
			w.positions = append(w.positions, at.position)
			w.counts[entry.Cell.Rating-1]++
		}
	}
	slices.SortFunc(w.positions, w.compare)
	return w
}

// whole is a list with all its comments.
type whole struct {
	order comment.Order
	// positions are in the list's order.
	positions []comment.Position
	counts    comment.Counts
}

// compare is negative if a comes before b in the list.
func (w whole) compare(a, b comment.Position) int {
	if w.order == comment.NewestFirst {
		a, b = b, a
	}
	return a.Compare(b)
}

// through returns the number of comments at or before a position.
func (w whole) through(position comment.Position) int {
	n, there := slices.BinarySearchFunc(w.positions, position, w.compare)
	if there {
		n++
	}
	return n
}

// Model is a store in memory: a map and a sort. It is too simple to be wrong.
type Model struct {
	mu     sync.Mutex
	held   comments
	covers string
	build  *modelBuild
}

// NewModel returns an empty store.
func NewModel() *Model { return &Model{held: comments{}} }

// Find implements pageindex.Index.
func (m *Model) Find(_ context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.held.read(list)
	found := pageindex.Found{Counts: w.counts}
	for _, target := range targets {
		rank := min(target.Rank, len(w.positions))
		if target.At != nil {
			rank = w.through(*target.At)
		}
		boundary := pageindex.Boundary{Rank: rank}
		if rank > 0 {
			boundary.After = &w.positions[rank-1]
		}
		found.Boundaries = append(found.Boundaries, boundary)
	}
	return found, nil
}

// Covers implements pageindex.Store.
func (m *Model) Covers(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.covers, nil
}

// Renew implements pageindex.Renewer.
func (m *Model) Renew(_ context.Context, was, covers string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.covers != was {
		return comment.Errorf(comment.Conflict, "it covers something else by now")
	}
	m.covers = covers
	return nil
}

// Apply implements pageindex.Store.
func (m *Model) Apply(_ context.Context, entries []pageindex.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held.apply(entries)
	if m.build != nil {
		m.build.held.apply(entries)
	}
	return nil
}

// Products implements pageindex.Store.
func (m *Model) Products(_ context.Context, tell func(product string)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, entry := range m.held {
		if entry.Cell != nil {
			tell(at.product)
		}
	}
	return nil
}

// Build implements pageindex.Store.
func (m *Model) Build(context.Context) (pageindex.Build, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.build = &modelBuild{model: m, held: comments{}}
	return m.build, nil
}

// Close does nothing: the data stays.
func (m *Model) Close() error { return nil }

// modelBuild holds the model's next content.
type modelBuild struct {
	model *Model
	held  comments
}

// Add implements pageindex.Build.
func (b *modelBuild) Add(_ context.Context, entries []pageindex.Entry) error {
	b.model.mu.Lock()
	defer b.model.mu.Unlock()
	b.held.apply(entries)
	return nil
}

// Finish implements pageindex.Build.
func (b *modelBuild) Finish(_ context.Context, covers string) error {
	b.model.mu.Lock()
	defer b.model.mu.Unlock()
	if b.model.build != b {
		return comment.Errorf(comment.Conflict, "another build has begun since")
	}
	b.model.held, b.model.covers, b.model.build = b.held, covers, nil
	return nil
}
