package objects

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/talkback/talkback/pageindex"
)

// merge returns the chunks of a root after changes, which are sorted by key without duplicates. It
// rewrites only chunks that change, and neighbours of these that have become small.
func (c *cutter) merge(root *Root, changes []Item) ([]Chunk, error) {
	chunks := root.Chunks
	if len(chunks) == 0 {
		chunks = []Chunk{{}} // an empty one, to which all changes belong
	}
	changesOf := make([][]Item, len(chunks))
	for i := range chunks {
		n := len(changes)
		if i+1 < len(chunks) {
			n, _ = slices.BinarySearchFunc(changes, chunks[i+1].First, func(i Item, k Key) int { return i.Compare(k) })
		}
		changesOf[i], changes = changes[:n], changes[n:]
	}
	changed := func(i int) bool { return i >= 0 && i < len(chunks) && len(changesOf[i]) > 0 }
	inStretch := false
	for i, chunk := range chunks {
		if !changed(i) && !(c.isSmall(&chunk) && (changed(i-1) || changed(i+1))) {
			c.end(chunk.First)
			c.keep(chunk)
			inStretch = false
			continue
		}
		if !inStretch {
			c.begin(chunk.First)
			inStretch = true
		}
		items, err := readChunk(c.ctx, c.storage, &chunk)
		if err != nil {
			_, _ = c.close() // the first error counts
			return nil, err
		}
		for _, item := range latestSorted(append(items, changesOf[i]...)) {
			c.addKept(item)
		}
	}
	c.end(Key{})
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

func (c *cutter) isSmall(chunk *Chunk) bool {
	return max(chunk.Records.Count, chunk.Guards.Count) < c.size/8 && chunk.Records.Head < headBytes/8
}

// keep adds an unchanged chunk, without guards that have expired.
func (c *cutter) keep(chunk Chunk) {
	if chunk.Guards.Count > 0 && c.ended(chunk.Seen) {
		chunk.Guards, chunk.Seen = FileInfo{}, 0
	}
	if chunk.Guards.Count > 0 || chunk.Records.Count > 0 {
		c.chunks = append(c.chunks, chunk)
	}
}

// ended reports whether a guard that came at a time has expired.
func (c *cutter) ended(seen uint32) bool {
	return c.now.Sub(time.Unix(int64(seen), 0)) > pageindex.Remember
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
