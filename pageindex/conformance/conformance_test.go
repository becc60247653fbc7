package conformance

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

func inMemory(store pageindex.Store) Place {
	return Place{Shared: true, Open: func(*testing.T) pageindex.Store { return store }}
}

func TestModelConforms(t *testing.T) {
	Run(t, func(*testing.T) Place { return inMemory(NewModel()) })
}

// broken are stores with one fault each. The zero value has none.
type broken struct {
	*Model
	apply  func(m *Model, entries []pageindex.Entry) error
	find   func(m *Model, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error)
	begin  func(m *Model)
	covers func(m *Model) string
}

func (b broken) Apply(ctx context.Context, entries []pageindex.Entry) error {
	if b.apply != nil {
		return b.apply(b.Model, entries)
	}
	return b.Model.Apply(ctx, entries)
}

func (b broken) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	if b.find != nil {
		return b.find(b.Model, list, targets)
	}
	return b.Model.Find(ctx, list, targets)
}

func (b broken) Build(ctx context.Context) (pageindex.Build, error) {
	build, err := b.Model.Build(ctx)
	if b.begin != nil {
		b.begin(b.Model)
	}
	return build, err
}

func (b broken) Covers(ctx context.Context) (string, error) {
	if b.covers != nil {
		return b.covers(b.Model), nil
	}
	return b.Model.Covers(ctx)
}

// spoiled returns a store whose answers have a fault.
func spoiled(spoil func(found *pageindex.Found, list pageindex.List, target pageindex.Target, i int)) broken {
	return broken{find: func(m *Model, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
		found, err := m.Find(context.Background(), list, targets)
		for i, target := range targets {
			spoil(&found, list, target, i)
		}
		return found, err
	}}
}

// each applies entries one by one, without the build.
func each(m *Model, entries []pageindex.Entry, change func(entry pageindex.Entry)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, entry := range entries {
		change(entry)
		if m.build != nil {
			m.build.held.apply([]pageindex.Entry{entry})
		}
	}
	return nil
}

var faults = map[string]broken{
	"the latest to come wins": {apply: func(m *Model, entries []pageindex.Entry) error {
		return each(m, entries, func(entry pageindex.Entry) { m.held[key{entry.Product, entry.Position}] = entry })
	}},
	"what is deleted is forgotten": {apply: func(m *Model, entries []pageindex.Entry) error {
		return each(m, entries, func(entry pageindex.Entry) {
			m.held.apply([]pageindex.Entry{entry})
			if at := (key{entry.Product, entry.Position}); m.held[at].Cell == nil {
				delete(m.held, at)
			}
		})
	}},
	"a tilde is not compared": {apply: func(m *Model, entries []pageindex.Entry) error {
		return each(m, entries, func(entry pageindex.Entry) {
			if before := m.held[key{entry.Product, entry.Position}]; entry.Follows != before.Follows+"~" {
				m.held.apply([]pageindex.Entry{entry})
			}
		})
	}},
	"equal times are one place": spoiled(func(found *pageindex.Found, _ pageindex.List, _ pageindex.Target, i int) {
		if after := found.Boundaries[i].After; after != nil {
			found.Boundaries[i].After = new(comment.FirstAt(after.Time()))
		}
	}),
	"a rank is off by 1": spoiled(func(found *pageindex.Found, _ pageindex.List, target pageindex.Target, i int) {
		if target.At != nil {
			found.Boundaries[i].Rank++
		}
	}),
	"exact ranks are not": spoiled(func(found *pageindex.Found, _ pageindex.List, target pageindex.Target, i int) {
		if target.Exact {
			found.Boundaries[i] = pageindex.Boundary{}
		}
	}),
	"counts without the dates": {find: func(m *Model, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
		found, err := m.Find(context.Background(), list, targets)
		list.Filter.CreatedAfter = nil
		all, _ := m.Find(context.Background(), list, nil)
		found.Counts = all.Counts
		return found, err
	}},
	"helpful votes are ignored": {find: func(m *Model, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
		list.Filter.Helpful = nil
		return m.Find(context.Background(), list, targets)
	}},
	"an answer of two states": {find: func(m *Model, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
		var sum pageindex.Found
		for rating := 1; rating <= comment.MaxRating; rating++ {
			list.Filter.Ratings = []int{rating}
			part, _ := m.Find(context.Background(), list, nil)
			sum.Counts[rating-1] = part.Counts[rating-1]
		}
		list.Filter.Ratings = nil
		found, err := m.Find(context.Background(), list, targets)
		found.Counts = sum.Counts
		return found, err
	}},
	"a build hides the old content": {begin: func(m *Model) { m.held = comments{} }},
	"a build keeps the old content": {begin: func(m *Model) { m.build.held.apply(slices.Collect(maps.Values(m.held))) }},
	"a build misses applied entries": {apply: func(m *Model, entries []pageindex.Entry) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held.apply(entries)
		return nil
	}},
	"complete as soon as it has something": {covers: func(m *Model) string {
		if len(m.held) > 0 {
			return "something"
		}
		return ""
	}},
}

// The suite fails for every fault. It runs in another process, so that its failures do not fail
// this test.
func TestFaultsAreFound(t *testing.T) {
	if fault := os.Getenv("CONFORMANCE_FAULT"); fault != "" {
		Run(t, func(*testing.T) Place {
			store := faults[fault]
			store.Model = NewModel()
			return inMemory(store)
		})
		return
	}
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			suite := exec.Command(os.Args[0], "-test.run=^TestFaultsAreFound$", "-test.failfast")
			suite.Env = append(os.Environ(), "CONFORMANCE_FAULT="+fault)
			if out, err := suite.CombinedOutput(); err == nil {
				t.Errorf("the suite passes: %s", out)
			}
		})
	}
}
