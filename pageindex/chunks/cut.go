package chunks

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// Bounds of a chunk.
const (
	// chunkItems is how many comments and guards a chunk should have. One of a product that has more
	// has at most half as many again, and at least half of it.
	chunkItems = 1 << 16
	// headBytes is how large the head of a chunk of many products should be.
	headBytes = 1 << 16
	// parallelWrites bounds the files that are written at the same time.
	parallelWrites = 4
)

// cutter cuts stretches of items in order into chunks, and writes them.
type cutter struct {
	writer Writer
	writes *errgroup.Group
	ctx    context.Context // that of the writes
	size   int             // how many items a chunk should have
	chunks []pagefile.Chunk

	id      string          // the current product
	product []pagefile.Item // its items that are in no chunk yet
	single  bool            // it has chunks of its own
	first   comment.Position

	shared []pagefile.Item // whole products that will be in one chunk
	head   int             // about how large its head will be
}

func newCutter(ctx context.Context, writer Writer, size int) *cutter {
	c := &cutter{writer: writer, size: size}
	c.writes, c.ctx = errgroup.WithContext(ctx)
	c.writes.SetLimit(parallelWrites)
	return c
}

// begin begins a stretch at the first key of an old chunk. If a product began before it, its items
// get chunks of their own.
func (c *cutter) begin(first pagefile.Key) {
	c.id, c.first = first.Product, first.Position
	c.single = first.Position != comment.Position{}
}

// add takes the next item of the stretch.
func (c *cutter) add(item pagefile.Item) {
	if item.Product != c.id {
		c.endProduct()
		c.id, c.first, c.single = item.Product, comment.Position{}, false
	}
	c.product = append(c.product, item)
	if len(c.product) >= c.size+c.size/2 {
		c.cutProduct(c.size)
	}
}

// end ends a stretch, behind which an old chunk begins with the key next.
func (c *cutter) end(next pagefile.Key) {
	if next.Product == c.id && next.Position != (comment.Position{}) {
		c.single = true
	}
	c.endProduct()
	c.cutShared()
}

// close waits until all is written, and returns the chunks.
func (c *cutter) close() ([]pagefile.Chunk, error) { return c.chunks, c.writes.Wait() }

func (c *cutter) endProduct() {
	switch n := len(c.product); {
	case n == 0:
	case n > c.size:
		c.cutProduct(n / 2)
		c.cutProduct(n - n/2)
	case c.single || n > c.size/2:
		c.cutProduct(n)
	default:
		c.share()
	}
}

// cutProduct makes a chunk of the first n items of the product.
func (c *cutter) cutProduct(n int) {
	c.cutShared()
	c.single = true
	chunk := pagefile.Chunk{First: pagefile.Key{Product: c.id, Position: c.first}, Single: true, Last: c.product[n-1].Position}
	counts := map[comment.Cell]int{}
	for _, item := range c.product[:n] {
		if item.There() {
			counts[item.Cell]++
		}
	}
	for _, cell := range pagefile.SortedCells(counts) {
		chunk.Cells = append(chunk.Cells, pagefile.CellCount{Cell: cell, Count: counts[cell]})
	}
	c.write(chunk, c.product[:n:n])
	c.product = append([]pagefile.Item(nil), c.product[n:]...)
	if len(c.product) > 0 {
		c.first = c.product[0].Position
	}
}

// share puts the product with others, whose chunk is cut first if it would become too large.
func (c *cutter) share() {
	cells := map[comment.Cell]bool{}
	for _, item := range c.product {
		cells[item.Cell] = true
	}
	blocks := (len(c.product) + pagefile.BlockRecords - 1) / pagefile.BlockRecords
	head := 24 + len(c.id) + 5*len(cells) + blocks*(20+2*len(cells))
	if len(c.shared) > 0 && (len(c.shared)+len(c.product) > c.size || c.head+head > headBytes) {
		c.cutShared()
	}
	c.shared = append(c.shared, c.product...)
	c.head += head
	c.product = c.product[:0]
}

func (c *cutter) cutShared() {
	if len(c.shared) == 0 {
		return
	}
	c.write(pagefile.Chunk{First: pagefile.Key{Product: c.shared[0].Product}}, c.shared)
	c.shared, c.head = nil, 0
}

// write adds a chunk, and writes its files. The items belong to it from then on.
func (c *cutter) write(chunk pagefile.Chunk, items []pagefile.Item) {
	records, guards := pagefile.EncodeRecords(items), pagefile.EncodeGuards(items)
	chunk.Name, chunk.Records, chunk.Guards = newName(), records.Part, guards.Part
	for _, item := range items {
		if item.Guarded() {
			chunk.Seen = max(chunk.Seen, item.Seen)
		}
	}
	c.chunks = append(c.chunks, chunk)
	c.writes.Go(func() error {
		for kind, data := range map[pagefile.Kind][]byte{pagefile.Records: records.Bytes, pagefile.Guards: guards.Bytes} {
			if data == nil {
				continue
			}
			if err := c.writer.Write(c.ctx, chunk.FileName(kind), data); err != nil {
				return err
			}
		}
		return nil
	})
}

// newName returns a name that no file has.
func newName() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}
