package objects

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/talkback/talkback/pageindex"
)

// Merger merges changes into chunks.
type Merger struct {
	Storage storage
	// Now is the current time, which decides whether guards have expired.
	Now time.Time
	// Size is how many items a chunk should have.
	Size int
}

// Merge returns the chunks of a root after changes, which are sorted by key without duplicates. It
// rewrites only chunks that change.
func (m *Merger) Merge(ctx context.Context, root *Root, changes []Item) ([]Chunk, error) {
	cut := newCutter(ctx, m.Storage, m.Size)
	at := 0 // the first chunk not done yet
	for _, s := range m.stretches(root, changes) {
		cut.chunks = append(cut.chunks, m.kept(root.Chunks[at:s.from])...)
		if err := m.rewrite(cut, root.Chunks, s); err != nil {
			_, _ = cut.close() // the first error counts
			return nil, err
		}
		at = s.end
	}
	cut.chunks = append(cut.chunks, m.kept(root.Chunks[at:])...)
	return cut.close()
}

// Build returns new chunks of items, which are sorted by key without duplicates.
func (m *Merger) Build(ctx context.Context, items iter.Seq2[Item, error]) ([]Chunk, error) {
	cut := newCutter(ctx, m.Storage, m.Size)
	for item, err := range items {
		if err == nil {
			err = cut.ctx.Err()
		}
		if err != nil {
			_, other := cut.close()
			return nil, cmp.Or(other, err)
		}
		m.add(cut, item)
	}
	cut.end(Key{})
	return cut.close()
}

// stretch is a range of chunks to rewrite, excluding end, and the changes in it.
type stretch struct {
	from, end int
	changes   []Item
}

// stretches groups changes by the chunks that they belong to. Neighbours that have become small are
// rewritten too.
func (m *Merger) stretches(root *Root, changes []Item) []stretch {
	if len(root.Chunks) == 0 && len(changes) > 0 {
		return []stretch{{changes: changes}}
	}
	var out []stretch
	for len(changes) > 0 {
		at := root.At(changes[0].Key)
		n := len(changes)
		if at+1 < len(root.Chunks) {
			n, _ = slices.BinarySearchFunc(changes, root.Chunks[at+1].First, func(i Item, k Key) int { return i.Compare(k) })
		}
		from, end := at, at+1
		if from > 0 && m.small(&root.Chunks[from-1]) {
			from--
		}
		if end < len(root.Chunks) && m.small(&root.Chunks[end]) {
			end++
		}
		if last := len(out) - 1; last >= 0 && from <= out[last].end {
			before := out[last]
			out[last] = stretch{before.from, end, before.changes[:len(before.changes)+n]}
		} else {
			out = append(out, stretch{from, end, changes[:n]})
		}
		changes = changes[n:]
	}
	return out
}

func (m *Merger) small(c *Chunk) bool {
	return max(c.Records.Count, c.Guards.Count) < m.Size/8 && c.Records.Head < headBytes/8
}

// kept returns unchanged chunks, without guards that have expired.
func (m *Merger) kept(chunks []Chunk) []Chunk {
	out := make([]Chunk, 0, len(chunks))
	for _, c := range chunks {
		if c.Guards.Count > 0 && m.ended(c.Seen) {
			c.Guards, c.Seen = FileInfo{}, 0
		}
		if c.Guards.Count > 0 || c.Records.Count > 0 {
			out = append(out, c)
		}
	}
	return out
}

// ended reports whether a guard that came at a time has expired.
func (m *Merger) ended(seen uint32) bool {
	return m.Now.Sub(time.Unix(int64(seen), 0)) > pageindex.Remember
}

func (m *Merger) rewrite(cut *cutter, chunks []Chunk, s stretch) error {
	var next Key
	if s.end < len(chunks) {
		next = chunks[s.end].First
	}
	if s.from < s.end {
		cut.begin(chunks[s.from].First)
	}
	changes := s.changes
	for _, c := range chunks[s.from:s.end] {
		items, err := readChunk(cut.ctx, m.Storage, &c)
		if err != nil {
			return err
		}
		for _, item := range items {
			for len(changes) > 0 && changes[0].Compare(item.Key) < 0 {
				m.add(cut, changes[0])
				changes = changes[1:]
			}
			if len(changes) > 0 && changes[0].Key == item.Key {
				item = later(item, changes[0])
				changes = changes[1:]
			}
			m.add(cut, item)
		}
	}
	for _, item := range changes {
		m.add(cut, item)
	}
	cut.end(next)
	return nil
}

// add passes an item on, unless nothing of it has to be kept.
func (m *Merger) add(cut *cutter, item Item) {
	if item.Guarded() && m.ended(item.Seen) {
		item.Follows, item.Seen = "", 0
	}
	if item.There() || item.Guarded() {
		cut.add(item)
	}
}

// later returns the item with the greater Follows; the first one if they are equal.
func later(a, b Item) Item {
	if b.Follows > a.Follows {
		return b
	}
	return a
}

// latestSorted sorts items by key in place, and keeps the latest of each key.
func latestSorted(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int { return a.Compare(b.Key) })
	out := items[:0]
	for _, item := range items {
		if last := len(out) - 1; last >= 0 && out[last].Key == item.Key {
			out[last] = later(out[last], item)
			continue
		}
		out = append(out, item)
	}
	return out
}
