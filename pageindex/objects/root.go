package objects

import (
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// A root begins with rootMagic, and one of any version with anyRoot.
const (
	anyRoot   = "TBPROOT"
	rootMagic = anyRoot + "2"
)

// Root lists the chunks of an index.
type Root struct {
	// Generation grows by 1 whenever the chunks change.
	Generation uint64
	// Merged is the number of the last log that is in the chunks.
	Merged uint64
	// Covers is what the index is complete for, empty if it never was complete.
	Covers string
	// Build names the build under way, empty if there is none. It also gets the logs after
	// BuildAfter.
	Build      string
	BuildAfter uint64
	// Writer identifies the writer of this root, which recognizes it if the answer was lost. Origin
	// is shared by all roots of a storage until the storage is emptied.
	Writer, Origin string
	// Chunks are sorted by their first keys.
	Chunks []Chunk
}

// Chunk is a range of keys, up to the first key of the next chunk.
type Chunk struct {
	// Name is the base name of its files.
	Name string
	// First is its first key; the first chunk also holds everything before. The position is zero,
	// unless the product began in an earlier chunk.
	First Key
	// Records and Guards are its files.
	Records, Guards FileInfo
	// Seen is when its newest guard came, in seconds since 1970.
	Seen uint32
	// Single means that the chunk holds one product only, which may have more chunks. All others
	// hold whole products.
	Single bool
	// Cells are the counts of a Single chunk, Last its last position, of records and guards.
	Cells []CellCount
	Last  comment.Position
}

// FileInfo is a chunk's description of one of its files.
type FileInfo struct {
	// Count is the number of records. A file without records does not exist.
	Count int
	// Head is the size of its head, in bytes, CRC the expected checksum of the head.
	Head int
	CRC  uint32
}

// CellCount is how many comments a cell has.
type CellCount struct {
	Cell  comment.Cell
	Count int
}

// objectName returns the object name of one of its files.
func (c *Chunk) objectName(kind Kind) string {
	if kind == Guards {
		return chunkFolder + c.Name + ".guards"
	}
	return chunkFolder + c.Name + ".records"
}

// File returns the description of one of its files.
func (c *Chunk) File(kind Kind) FileInfo {
	if kind == Guards {
		return c.Guards
	}
	return c.Records
}

// At returns the number of the chunk that holds a key, -1 if there are no chunks.
func (r *Root) At(key Key) int {
	n, exact := slices.BinarySearchFunc(r.Chunks, key, func(c Chunk, k Key) int { return c.First.Compare(k) })
	if exact || n == 0 {
		return min(n, len(r.Chunks)-1)
	}
	return n - 1
}

// Of returns the chunks that may hold comments of a product.
func (r *Root) Of(product string) []Chunk {
	from := r.At(Key{Product: product})
	if from < 0 {
		return nil
	}
	end := from + 1
	for end < len(r.Chunks) && r.Chunks[end].First.Product == product {
		end++
	}
	if c := &r.Chunks[from]; c.First.Product != product && (c.Single || end > from+1) {
		from++ // it holds only other products
	}
	return r.Chunks[from:end]
}

// sortedCells returns the keys of a map by language and rating.
func sortedCells[T any](cells map[comment.Cell]T) []comment.Cell {
	return slices.SortedFunc(maps.Keys(cells), comment.Cell.Compare)
}

func encodeRoot(r *Root) []byte {
	out := append([]byte(rootMagic), 0, 0, 0, 0)
	out = big.AppendUint64(out, r.Generation)
	out = big.AppendUint64(out, r.Merged)
	out = appendText16(out, r.Covers)
	out = appendText8(out, r.Build)
	out = big.AppendUint64(out, r.BuildAfter)
	out = appendText8(out, r.Writer)
	out = appendText8(out, r.Origin)
	out = big.AppendUint32(out, uint32(len(r.Chunks)))
	for i := range r.Chunks {
		out = appendChunk(out, &r.Chunks[i])
	}
	big.PutUint32(out[len(rootMagic):], crcOf(out[len(rootMagic)+4:]))
	return out
}

func appendChunk(out []byte, c *Chunk) []byte {
	out = appendText8(out, c.Name)
	out = appendText16(out, c.First.Product)
	out = append(out, c.First.Position[:]...)
	for _, part := range []FileInfo{c.Records, c.Guards} {
		out = big.AppendUint32(out, uint32(part.Count))
		out = big.AppendUint32(out, uint32(part.Head))
		out = big.AppendUint32(out, part.CRC)
	}
	out = big.AppendUint32(out, c.Seen)
	single := byte(0)
	if c.Single {
		single = 1
	}
	out = append(append(out, single), c.Last[:]...)
	out = big.AppendUint16(out, uint16(len(c.Cells)))
	for _, cell := range c.Cells {
		out = big.AppendUint32(appendCell(out, cell.Cell), uint32(cell.Count))
	}
	return out
}

// decodeRoot reads the file of a root.
func decodeRoot(data []byte) (*Root, error) {
	p := &parser{rest: data}
	if magic, crc := string(p.take(len(rootMagic))), p.u32(); magic != rootMagic || crc != crcOf(p.rest) {
		return nil, damaged("the checksum of the root does not match")
	}
	r := &Root{
		Generation: p.u64(), Merged: p.u64(), Covers: p.text16(),
		Build: p.text8(), BuildAfter: p.u64(), Writer: p.text8(), Origin: p.text8(),
	}
	r.Chunks = list(p, int(p.u32()), p.chunk)
	if p.short || len(p.rest) > 0 {
		return nil, damaged("the root is not as long as it says")
	}
	return r, nil
}

func (p *parser) chunk() Chunk {
	return Chunk{
		Name: p.text8(), First: Key{p.text16(), p.position()}, Records: p.part(), Guards: p.part(), Seen: p.u32(),
		Single: p.u8() == 1, Last: p.position(), Cells: list(p, p.u16(), func() CellCount { return CellCount{p.cell(), int(p.u32())} }),
	}
}

func (p *parser) part() FileInfo { return FileInfo{int(p.u32()), int(p.u32()), p.u32()} }
