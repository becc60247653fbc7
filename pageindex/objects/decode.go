package objects

import "slices"

// decodeItems returns the items of a chunk, sorted by key, of its whole files; nil is a file that the
// chunk does not have.
func decodeItems(c *Chunk, records, guards []byte) ([]Item, error) {
	there, err := decodeFile(c.Records, records, func(h *Head, p *Product, data []byte) []Item {
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
	guarded, err := decodeFile(c.Guards, guards, func(h *Head, p *Product, data []byte) []Item {
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

// join joins items that are there with those that have guards.
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

// Decode reads the head that the part's file begins with. It must be the very one.
func (p FileInfo) Decode(data []byte) (*Head, error) {
	h, err := decodeHead(data[:min(p.Head, len(data))])
	if err != nil {
		return nil, err
	}
	records := 0
	for i := range h.Products {
		records += h.Products[i].Records
	}
	if h.checksum != p.CRC || records != p.Count {
		return nil, damaged("a file is another than the one that the root names")
	}
	return h, nil
}
