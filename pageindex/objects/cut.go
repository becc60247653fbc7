package objects

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
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

// begin begins a stretch at the first key of an old chunk. If a product began before it, its items
// get their own chunks.
func (c *cutter) begin(first Key) {
	c.id, c.first = first.Product, first.Position
	c.single = first.Position != comment.Position{}
}

// add takes the next item of the stretch.
func (c *cutter) add(item Item) {
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
