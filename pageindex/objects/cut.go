package objects

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// Bounds of a chunk.
const (
	// chunkItems is how many comments and guards a chunk should have. A product with more gets
	// chunks of half to one and a half times as many.
	chunkItems = 1 << 16
	// headBytes is the intended size of the head of a chunk with many products.
	headBytes = 1 << 16
	// parallelWrites bounds parallel writes of files.
	parallelWrites = 4
)

// cutter cuts stretches of sorted items into chunks, and writes them.
type cutter struct {
	storage storage
	writes  *errgroup.Group
	ctx     context.Context // that of the writes
	size    int             // how many items a chunk should have
	now     time.Time       // decides whether guards have expired
	chunks  []Chunk

	id      string // the current product
	product []Item // its items not yet in a chunk
	single  bool   // it has its own chunks
	first   comment.Position

	shared []Item // whole products that will be in one chunk
	head   int    // estimated size of its head
}

func newCutter(ctx context.Context, s storage, size int, now time.Time) *cutter {
	c := &cutter{storage: s, size: size, now: now}
	c.writes, c.ctx = errgroup.WithContext(ctx)
	c.writes.SetLimit(parallelWrites)
	return c
}

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
		small := max(chunk.Records.Count, chunk.Guards.Count) < c.size/8 && chunk.Records.Head < headBytes/8
		if !changed(i) && !(small && (changed(i-1) || changed(i+1))) {
			c.end(chunk.First)
			if chunk.Guards.Count > 0 && c.ended(chunk.Seen) {
				chunk.Guards, chunk.Seen = FileInfo{}, 0
			}
			if chunk.Guards.Count > 0 || chunk.Records.Count > 0 {
				c.chunks = append(c.chunks, chunk)
			}
			inStretch = false
			continue
		}
		if !inStretch { // if a product began before the stretch, its items get their own chunks
			c.id, c.first, c.single = chunk.First.Product, chunk.First.Position, chunk.First.Position != comment.Position{}
			inStretch = true
		}
		items, err := readChunk(c.ctx, c.storage, &chunk)
		if err != nil {
			_, _ = c.close() // the first error counts
			return nil, err
		}
		for _, item := range latestSorted(append(items, changesOf[i]...)) {
			c.add(item)
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
		c.add(item)
	}
	c.end(Key{})
	return c.close()
}

// ended reports whether a guard that came at a time has expired.
func (c *cutter) ended(seen uint32) bool {
	return c.now.Sub(time.Unix(int64(seen), 0)) > pageindex.Remember
}

// add takes the next item of the stretch, unless nothing of it has to be kept.
func (c *cutter) add(item Item) {
	if item.Guarded() && c.ended(item.Seen) {
		item.Follows, item.Seen = "", 0
	}
	if !item.There() && !item.Guarded() {
		return
	}
	if item.Product != c.id {
		c.endProduct()
		c.id, c.first, c.single = item.Product, comment.Position{}, false
	}
	c.product = append(c.product, item)
	if len(c.product) >= c.size+c.size/2 {
		c.cutProduct(c.size)
	}
}

// end ends a stretch. The old chunk behind it begins with the key next.
func (c *cutter) end(next Key) {
	if next.Product == c.id && next.Position != (comment.Position{}) {
		c.single = true
	}
	c.endProduct()
	c.cutShared()
}

// close waits for all writes, and returns the chunks.
func (c *cutter) close() ([]Chunk, error) { return c.chunks, c.writes.Wait() }

func (c *cutter) endProduct() {
	switch n := len(c.product); {
	case n == 0:
	case n > c.size:
		c.cutProduct(n / 2)
		c.cutProduct(n - n/2)
	case c.single || n > c.size/2:
		c.cutProduct(n)
	default:
		// It shares a chunk with others, which is cut first if it would become too large.
		cells := map[comment.Cell]bool{}
		for _, item := range c.product {
			cells[item.Cell] = true
		}
		blocks := (n + blockRecords - 1) / blockRecords
		head := 24 + len(c.id) + 5*len(cells) + blocks*(20+2*len(cells))
		if len(c.shared) > 0 && (len(c.shared)+n > c.size || c.head+head > headBytes) {
			c.cutShared()
		}
		c.shared = append(c.shared, c.product...)
		c.head += head
		c.product = c.product[:0]
	}
}

// cutProduct makes a chunk of the first n items of the product.
func (c *cutter) cutProduct(n int) {
	c.cutShared()
	c.single = true
	chunk := Chunk{First: Key{Product: c.id, Position: c.first}, Single: true, Last: c.product[n-1].Position}
	counts := map[comment.Cell]int{}
	for _, item := range c.product[:n] {
		if item.There() {
			counts[item.Cell]++
		}
	}
	for _, cell := range sortedCells(counts) {
		chunk.Cells = append(chunk.Cells, CellCount{Cell: cell, Count: counts[cell]})
	}
	c.write(chunk, c.product[:n:n])
	c.product = append([]Item(nil), c.product[n:]...)
	if len(c.product) > 0 {
		c.first = c.product[0].Position
	}
}

func (c *cutter) cutShared() {
	if len(c.shared) == 0 {
		return
	}
	c.write(Chunk{First: Key{Product: c.shared[0].Product}}, c.shared)
	c.shared, c.head = nil, 0
}

// write adds a chunk, and writes its files. It takes ownership of the items.
func (c *cutter) write(chunk Chunk, items []Item) {
	records, guards := encodeRecords(items), encodeGuards(items)
	chunk.Name, chunk.Records, chunk.Guards = uniqueName(), records.FileInfo, guards.FileInfo
	for _, item := range items {
		if item.Guarded() {
			chunk.Seen = max(chunk.Seen, item.Seen)
		}
	}
	c.chunks = append(c.chunks, chunk)
	c.writes.Go(func() error {
		for kind, data := range map[Kind][]byte{Records: records.Bytes, Guards: guards.Bytes} {
			if data == nil {
				continue
			}
			// Names are unique, so an existing object was written by an earlier attempt.
			if _, err := c.storage.put(c.ctx, chunk.objectName(kind), data, ""); err != nil && !errors.Is(err, errTaken) {
				return err
			}
		}
		return nil
	})
}
