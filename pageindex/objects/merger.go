package objects

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/talkback/talkback/pageindex"
)

// merge returns the chunks of a root after changes, which are sorted by key without duplicates. It
// rewrites only chunks that change.
func (c *cutter) merge(root *Root, changes []Item) ([]Chunk, error) {
	at := 0 // the first chunk not done yet
	for _, s := range c.stretches(root, changes) {
		c.chunks = append(c.chunks, c.kept(root.Chunks[at:s.from])...)
		if err := c.rewrite(root.Chunks, s); err != nil {
			_, _ = c.close() // the first error counts
			return nil, err
		}
		at = s.end
	}
	c.chunks = append(c.chunks, c.kept(root.Chunks[at:])...)
	return c.close()
}

// build returns new chunks of items, which are sorted by key without duplicates.
func (c *cutter) build(items iter.Seq2[Item, error]) ([]Chunk, error) {
	for item, err := range items {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			_, other := c.close()
			return nil, cmp.Or(other, err)
		}
		c.addKept(item)
	}
	c.end(Key{})
	return c.close()
}

// stretch is a range of chunks to rewrite, excluding end, and the changes in it.
type stretch struct {
	from, end int
	changes   []Item
}

// stretches groups changes by the chunks that they belong to. Neighbours that have become small are
// rewritten too.
func (c *cutter) stretches(root *Root, changes []Item) []stretch {
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
		if from > 0 && c.isSmall(&root.Chunks[from-1]) {
			from--
		}
		if end < len(root.Chunks) && c.isSmall(&root.Chunks[end]) {
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

func (c *cutter) isSmall(chunk *Chunk) bool {
	return max(chunk.Records.Count, chunk.Guards.Count) < c.size/8 && chunk.Records.Head < headBytes/8
}

// kept returns unchanged chunks, without guards that have expired.
func (c *cutter) kept(chunks []Chunk) []Chunk {
	out := make([]Chunk, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk.Guards.Count > 0 && c.ended(chunk.Seen) {
			chunk.Guards, chunk.Seen = FileInfo{}, 0
		}
		if chunk.Guards.Count > 0 || chunk.Records.Count > 0 {
			out = append(out, chunk)
		}
	}
	return out
}

// ended reports whether a guard that came at a time has expired.
func (c *cutter) ended(seen uint32) bool {
	return c.now.Sub(time.Unix(int64(seen), 0)) > pageindex.Remember
}

func (c *cutter) rewrite(chunks []Chunk, s stretch) error {
	var next Key
	if s.end < len(chunks) {
		next = chunks[s.end].First
	}
	if s.from < s.end {
		c.begin(chunks[s.from].First)
	}
	changes := s.changes
	for _, chunk := range chunks[s.from:s.end] {
		items, err := readChunk(c.ctx, c.storage, &chunk)
		if err != nil {
			return err
		}
		for _, item := range items {
			for len(changes) > 0 && changes[0].Compare(item.Key) < 0 {
				c.addKept(changes[0])
				changes = changes[1:]
			}
			if len(changes) > 0 && changes[0].Key == item.Key {
				item = later(item, changes[0])
				changes = changes[1:]
			}
			c.addKept(item)
		}
	}
	for _, item := range changes {
		c.addKept(item)
	}
	c.end(next)
	return nil
}

// addKept adds an item, unless nothing of it has to be kept.
func (c *cutter) addKept(item Item) {
	if item.Guarded() && c.ended(item.Seen) {
		item.Follows, item.Seen = "", 0
	}
	if item.There() || item.Guarded() {
		c.add(item)
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
