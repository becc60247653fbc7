package objects

import (
	"bytes"
	"context"
	"sort"
)

// resolve computes the changes of a view, by comparing its items with the chunks.
func resolve(ctx context.Context, r *reads, v *view) error {
	err := r.until(ctx, func() {
		for _, item := range v.items {
			if _, known := v.bases[item.Position]; known {
				continue
			}
			if base, ok := r.base(v.root, item.Key); ok {
				v.bases[item.Position] = base
			}
		}
	})
	if err != nil {
		return err
	}
	v.changes = make([]change, 0, len(v.items))
	for _, item := range v.items {
		base := v.bases[item.Position]
		// Neither an older entry changes anything, nor one without Follows where another exists.
		if (base.There() || base.Guarded()) && item.Follows <= base.Follows {
			continue
		}
		v.changes = append(v.changes, change{item.Position, base.Cell, item.Cell})
	}
	return nil
}

// base returns the item of a comment in the chunks. If ok is false, something has to be read first.
func (r *reads) base(root *Root, key Key) (item Item, ok bool) {
	item.Key = key
	n := root.At(key)
	if n < 0 {
		return item, true
	}
	c := &root.Chunks[n]
	if c.Single && (c.First.Product != key.Product || key.Position.Compare(c.Last) > 0) {
		return item, true
	}
	head, product, record, ok := r.lookUp(c, Records, key)
	guards, _, guard, guarded := r.lookUp(c, Guards, key)
	if record != nil {
		number := decodeRecords(record)[0].Cell
		item.Cell = head.Products[product].Cells[number]
	}
	if guard != nil {
		g := guards.decodeGuards(guard)[0]
		item.Follows, item.Seen = g.Follows, g.Seen
	}
	return item, ok && guarded
}

// lookUp returns the bytes of a comment's record in a chunk's file, nil if it has none. If ok is
// false, something has to be read first.
func (r *reads) lookUp(c *Chunk, kind Kind, key Key) (h *Head, product int, record []byte, ok bool) {
	h = r.head(c, kind)
	if h == nil {
		return nil, 0, nil, false
	}
	product, found := h.Find(key.Product)
	if !found {
		return h, 0, nil, true
	}
	p := &h.Products[product]
	block := sort.Search(len(p.Blocks), func(i int) bool { return p.Blocks[i].First.Compare(key.Position) > 0 }) - 1
	if block < 0 || key.Position.Compare(p.Last) > 0 {
		return h, product, nil, true
	}
	data := r.block(c.objectName(kind), h, product, block)
	if data == nil {
		return h, product, nil, false
	}
	n, found := sort.Find(len(data)/h.RecordSize, func(i int) int {
		return bytes.Compare(key.Position[:], data[i*h.RecordSize:][:len(key.Position)])
	})
	if !found {
		return h, product, nil, true
	}
	return h, product, data[n*h.RecordSize : (n+1)*h.RecordSize], true
}
