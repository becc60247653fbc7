package objects

import (
	"context"
	"slices"
)

// readChunk returns the items of a chunk, sorted by key.
func readChunk(ctx context.Context, s storage, c *Chunk) ([]Item, error) {
	var files [2][]byte // nil for a missing one
	for i, kind := range []Kind{Records, Guards} {
		if c.File(kind).Count == 0 {
			continue
		}
		file, err := s.get(ctx, c.objectName(kind), "")
		if err != nil {
			return nil, err
		}
		files[i] = file.data
	}
	there, err := decodeFile(c.Records, files[0], func(_ *Head, p *Product, data []byte) []Item {
		var out []Item
		for _, r := range decodeRecords(data) {
			item := Item{Key: Key{p.ID, r.Position}}
			if r.Cell < len(p.Cells) {
				item.Cell = p.Cells[r.Cell]
			}
			out = append(out, item)
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	guarded, err := decodeFile(c.Guards, files[1], func(h *Head, p *Product, data []byte) []Item {
		var out []Item
		for _, g := range h.decodeGuards(data) {
			out = append(out, Item{Key: Key{p.ID, g.Position}, Follows: g.Follows, Seen: g.Seen})
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	return join(there, guarded), nil
}

// decodeFile returns the items of all blocks of a file.
func decodeFile(part FileInfo, data []byte, decode func(*Head, *Product, []byte) []Item) ([]Item, error) {
	if part.Count == 0 {
		return nil, nil
	}
	h, err := part.Decode(data)
	if err != nil {
		return nil, err
	}
	out := make([]Item, 0, part.Count)
	for i := range h.Products {
		p := &h.Products[i]
		for b := range p.Blocks {
			offset, length := h.Extent(p, b)
			if offset+length > len(data) {
				return nil, damaged("a file is shorter than its head says")
			}
			block := data[offset : offset+length]
			if err := p.Blocks[b].Check(block); err != nil {
				return nil, err
			}
			out = append(out, decode(h, p, block)...)
		}
	}
	return out, nil
}

// join merges existing comments with guards.
func join(there, guarded []Item) []Item {
	out := make([]Item, 0, max(len(there), len(guarded)))
	for _, item := range there {
		n := slices.IndexFunc(guarded, func(g Item) bool { return g.Compare(item.Key) >= 0 })
		if n < 0 {
			n = len(guarded)
		}
		out = append(out, guarded[:n]...)
		guarded = guarded[n:]
		if len(guarded) > 0 && guarded[0].Key == item.Key {
			item.Follows, item.Seen = guarded[0].Follows, guarded[0].Seen
			guarded = guarded[1:]
		}
		out = append(out, item)
	}
	return append(out, guarded...)
}

// Decode reads the head at the beginning of a file, and checks it against f. More bytes may follow.
func (f FileInfo) Decode(data []byte) (*Head, error) {
	data = data[:min(f.Head, len(data))]
	p := &parser{rest: data}
	magic, crc := string(p.take(len(fileMagic))), p.u32()
	_, prefix, size, length, products := p.u8(), p.u8(), p.u16(), int(p.u32()), int(p.u32()) // the first is the kind
	if p.short || magic != fileMagic || length < fixedHead || length > len(data) || size < recordSize {
		return nil, damaged("a file does not begin with a head")
	}
	if crcOf(data[checked:length]) != crc {
		return nil, damaged("the checksum of a head does not match")
	}
	p.rest = data[fixedHead:length]
	h := &Head{Prefix: string(p.take(prefix)), RecordSize: size, Length: length}
	records := 0
	h.Products = list(p, products, func() Product {
		product := p.product(records)
		records += product.Records
		return product
	})
	if p.short || len(p.rest) > 0 {
		return nil, damaged("a head is not as long as it says")
	}
	if crc != f.CRC || records != f.Count {
		return nil, damaged("a file is another than the one that the root names")
	}
	return h, nil
}
