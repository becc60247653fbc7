package objects

import (
	"context"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// File is an encoded file of records or guards, and the chunk's description of it.
type File struct {
	FileInfo
	// Bytes are the whole file, nil if it would have no records.
	Bytes []byte
}

// encodeRecords encodes a chunk's file of records. Items must be sorted by key, without duplicates.
func encodeRecords(items []Item) File {
	e := encoder{kind: Records, size: recordSize}
	for there := range byProduct(slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !i.There() })) {
		number := map[comment.Cell]int{}
		for _, i := range there {
			number[i.Cell] = 0
		}
		cells := sortedCells(number)
		for n, cell := range cells {
			number[cell] = n
		}
		e.product(there, cells, func(i Item) int {
			n := number[i.Cell]
			e.records = big.AppendUint16(append(e.records, i.Position[:]...), uint16(n))
			return n
		})
	}
	return e.file()
}

// encodeGuards encodes a chunk's file of guards. Items must be sorted by key, without duplicates.
func encodeGuards(items []Item) File {
	guarded := slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !i.Guarded() })
	if len(guarded) == 0 {
		return File{}
	}
	// prefix is the common prefix of all guards' Follows, longest the length of the longest one.
	prefix, longest := string(guarded[0].Follows), 0
	for _, i := range guarded {
		for !strings.HasPrefix(string(i.Follows), prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		longest = max(longest, len(i.Follows))
	}
	prefix = prefix[:min(len(prefix), 255)]
	e := encoder{kind: Guards, prefix: prefix, size: guardFixed + longest - len(prefix)}
	for of := range byProduct(guarded) {
		e.product(of, nil, func(i Item) int {
			e.records = big.AppendUint32(append(e.records, i.Position[:]...), i.Seen)
			end := string(i.Follows[len(e.prefix):])
			e.records = append(append(e.records, end...), make([]byte, e.size-guardFixed-len(end))...)
			return 0
		})
	}
	return e.file()
}

// byProduct yields the items of each product.
func byProduct(items []Item) func(yield func([]Item) bool) {
	return func(yield func([]Item) bool) {
		for len(items) > 0 {
			n := slices.IndexFunc(items, func(i Item) bool { return i.Product != items[0].Product })
			if n < 0 {
				n = len(items)
			}
			if !yield(items[:n]) {
				return
			}
			items = items[n:]
		}
	}
}

// encoder assembles a file.
type encoder struct {
	kind      Kind
	prefix    string
	size      int
	products  int
	count     int
	directory []byte
	records   []byte
}

// product writes a product: its entry in the head, and its records. add appends one record, and
// returns the number of its cell.
func (e *encoder) product(items []Item, cells []comment.Cell, add func(Item) int) {
	e.products++
	e.count += len(items)
	e.directory = appendText16(e.directory, items[0].Product)
	e.directory = big.AppendUint32(e.directory, uint32(len(items)))
	e.directory = append(e.directory, items[len(items)-1].Position[:]...)
	e.directory = big.AppendUint16(e.directory, uint16(len(cells)))
	for _, cell := range cells {
		e.directory = appendCell(e.directory, cell)
	}
	for block := range slices.Chunk(items, blockRecords) {
		from := len(e.records)
		counts := make([]uint16, max(len(cells), 1))
		for _, i := range block {
			counts[add(i)]++
		}
		e.directory = append(e.directory, block[0].Position[:]...)
		e.directory = big.AppendUint32(e.directory, crcOf(e.records[from:]))
		for _, n := range counts[:len(cells)] {
			e.directory = big.AppendUint16(e.directory, n)
		}
	}
}

func (e *encoder) file() File {
	if e.count == 0 {
		return File{}
	}
	length := fixedHead + len(e.prefix) + len(e.directory)
	out := make([]byte, 0, length+len(e.records))
	out = append(append(out, fileMagic...), 0, 0, 0, 0)
	out = append(out, byte(e.kind), byte(len(e.prefix)))
	out = big.AppendUint16(out, uint16(e.size))
	out = big.AppendUint32(out, uint32(length))
	out = big.AppendUint32(out, uint32(e.products))
	out = append(append(out, e.prefix...), e.directory...)
	crc := crcOf(out[checked:])
	big.PutUint32(out[len(fileMagic):], crc)
	return File{FileInfo{Count: e.count, Head: length, CRC: crc}, append(out, e.records...)}
}

// readChunk returns the items of a chunk, sorted by key: existing comments, and guards.
func readChunk(ctx context.Context, s storage, c *Chunk) ([]Item, error) {
	there, err := readFile(ctx, s, c, Records)
	if err != nil {
		return nil, err
	}
	guarded, err := readFile(ctx, s, c, Guards)
	out := make([]Item, 0, max(len(there), len(guarded)))
	for _, item := range there {
		n, _ := slices.BinarySearchFunc(guarded, item.Key, func(g Item, k Key) int { return g.Compare(k) })
		out = append(out, guarded[:n]...)
		guarded = guarded[n:]
		if len(guarded) > 0 && guarded[0].Key == item.Key {
			item.Follows, item.Seen = guarded[0].Follows, guarded[0].Seen
			guarded = guarded[1:]
		}
		out = append(out, item)
	}
	return append(out, guarded...), err
}

// readFile returns the items of all blocks of a file of a chunk.
func readFile(ctx context.Context, s storage, c *Chunk, kind Kind) ([]Item, error) {
	part := c.File(kind)
	if part.Count == 0 {
		return nil, nil
	}
	file, err := s.get(ctx, c.objectName(kind), "")
	if err != nil {
		return nil, err
	}
	data := file.data
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
			out = append(out, h.items(kind, p, block)...)
		}
	}
	return out, nil
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
