package objects

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// errDamaged is the error of a file whose bytes are not those that were written.
var errDamaged = errors.New("a file of the page index is damaged")

func damaged(how string) error { return fmt.Errorf("%w: %s", errDamaged, how) }

// Key orders the comments of all products: by product id, then by position.
type Key struct {
	Product  string
	Position comment.Position
}

// Compare returns a negative number if k comes before other, a positive one if it comes after, and
// 0 if they are equal.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Product, other.Product), k.Position.Compare(other.Position))
}

// Item says in which cell one comment counts.
type Item struct {
	Key
	// Cell is the comment's cell. A deleted comment has rating 0.
	Cell comment.Cell
	// Follows is the entry's Follows. It is empty once no older entry can come.
	Follows stream.Position
	// Seen is when the entry came, in seconds since 1970.
	Seen uint32
}

// There reports whether the comment exists.
func (i Item) There() bool { return i.Cell.Code() != 0 }

// Guarded reports whether an older entry may still come.
func (i Item) Guarded() bool { return i.Follows != "" }

// longestText is the maximum size of a product's id and of Follows, in bytes. Real ones are far
// shorter.
const longestText = 1 << 10

// itemsOf turns entries that came at a time into items. An entry that cannot be stored is a
// BadInput error. Items wait in memory for a merge, so their texts are copies: those of an entry
// would keep a part of the stream's answer.
func itemsOf(entries []pageindex.Entry, now time.Time) ([]Item, error) {
	out := make([]Item, 0, len(entries))
	for _, e := range entries {
		item := Item{Key: Key{Product: strings.Clone(e.Product), Position: e.Position}, Follows: stream.Position(strings.Clone(string(e.Follows))), Seen: uint32(now.Unix())}
		if e.Cell != nil {
			item.Cell = e.Cell.Clone()
			if item.Cell.Code() < 1 || item.Cell.Code() > comment.MaxCellCode || len(item.Cell.Language) > 255 {
				return nil, comment.Errorf(comment.BadInput, "a comment with rating %d has no place in a page index: ratings are 1 to %d", item.Cell.Rating, comment.MaxRating)
			}
		}
		if len(e.Product) > longestText || len(e.Follows) > longestText {
			return nil, comment.Errorf(comment.BadInput, "a product's id or the position of a record is longer than %d bytes", longestText)
		}
		out = append(out, item)
	}
	return out, nil
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

// frameHead is the size of the head of a frame, in bytes: the length of the rest (4), and its
// checksum (4).
const frameHead = 8

// encodeFrame returns items as one frame: a log, or a piece of a sorted file.
func encodeFrame(items []Item) []byte {
	frame := make([]byte, frameHead)
	for _, i := range items {
		frame = appendText16(frame, i.Product)
		frame = append(frame, i.Position[:]...)
		frame = appendCell(frame, i.Cell)
		frame = appendText16(frame, string(i.Follows))
		frame = big.AppendUint32(frame, i.Seen)
	}
	body := frame[frameHead:]
	big.PutUint32(frame, uint32(len(body)))
	big.PutUint32(frame[4:], crcOf(body))
	return frame
}

// decodeFrame returns the items of a frame. A damaged one is an errDamaged.
func decodeFrame(frame []byte) ([]Item, error) {
	p := &parser{rest: frame}
	if length, crc := int(p.u32()), p.u32(); p.short || length != len(p.rest) || crc != crcOf(p.rest) {
		return nil, damaged("the checksum of changes does not match")
	}
	var items []Item
	for len(p.rest) > 0 {
		items = append(items, Item{Key: Key{p.text16(), p.position()}, Cell: p.cell(), Follows: stream.Position(p.text16()), Seen: p.u32()})
	}
	if p.short {
		return nil, damaged("a change is not as long as it says")
	}
	return items, nil
}

// Kind is the kind of a file's records.
type Kind byte

// The kinds of files.
const (
	// Records are the existing comments: position, and number of the cell.
	Records Kind = 'R'
	// Guards are recent entries: position, time, and the end of the text Follows.
	Guards Kind = 'G'
)

// blockRecords is how many records form a block, which has its own checksum and counts.
const blockRecords = 512

const (
	fileMagic  = "TBPAGES1"
	fixedHead  = checked + 1 + 1 + 2 + 4 + 4
	checked    = len(fileMagic) + 4 // where the bytes begin that the checksum covers
	recordSize = positionBytes + 2
	guardFixed = positionBytes + 4
)

// Head is the table of contents of a file of records or guards. It begins the file.
type Head struct {
	// Prefix is what the Follows of every guard begins with.
	Prefix string
	// RecordSize is the size of a record, in bytes.
	RecordSize int
	// Length is the size of the head, in bytes. The records follow it.
	Length int
	// Products are the products in the file, sorted by id.
	Products []Product
}

// Product is the records of one product in a file, sorted by position.
type Product struct {
	ID string
	// First is the number of the product's first record in the file, from 0.
	First int
	// Records is how many records it has, and Last the position of the last one.
	Records int
	// Last is the position of the last record.
	Last comment.Position
	// Cells are the cells of its comments; a record refers to one by number. Guards have none.
	Cells []comment.Cell
	// Blocks divide its records, blockRecords each; the last one may have fewer.
	Blocks []Block
}

// Block is a run of records.
type Block struct {
	// First is the position of the first one.
	First comment.Position
	CRC   uint32
	// Counts is the number of records of each cell.
	Counts []int
}

// Find returns the number of a product in the file.
func (h *Head) Find(product string) (number int, found bool) {
	return slices.BinarySearchFunc(h.Products, product, func(p Product, id string) int { return strings.Compare(p.ID, id) })
}

// Extent returns the offset and the length of a product's block in the file.
func (h *Head) Extent(p *Product, block int) (offset, length int) {
	from := block * blockRecords
	n := min(blockRecords, p.Records-from)
	return h.Length + (p.First+from)*h.RecordSize, n * h.RecordSize
}

// Check returns an error unless the bytes are those of the block.
func (b Block) Check(data []byte) error {
	if crcOf(data) != b.CRC {
		return damaged("the checksum of a block does not match")
	}
	return nil
}

// items decodes records of a product, from a checked block.
func (h *Head) items(kind Kind, p *Product, data []byte) []Item {
	out := make([]Item, 0, len(data)/h.RecordSize)
	for ; len(data) >= h.RecordSize; data = data[h.RecordSize:] {
		item := Item{Key: Key{p.ID, comment.Position(data[:positionBytes])}}
		if kind == Guards {
			end := strings.TrimRight(string(data[guardFixed:h.RecordSize]), "\x00")
			item.Follows, item.Seen = stream.Position(h.Prefix+end), big.Uint32(data[positionBytes:])
		} else if cell := int(big.Uint16(data[positionBytes:])); cell < len(p.Cells) {
			item.Cell = p.Cells[cell]
		}
		out = append(out, item)
	}
	return out
}

func (p *parser) product(first int) Product {
	product := Product{First: first, ID: p.text16(), Records: int(p.u32()), Last: p.position()}
	product.Cells = list(p, p.u16(), p.cell)
	product.Blocks = list(p, (product.Records+blockRecords-1)/blockRecords, func() Block {
		return Block{p.position(), p.u32(), list(p, len(product.Cells), p.u16)}
	})
	return product
}

// crcOf returns the CRC-32 (IEEE) of bytes.
func crcOf(data []byte) uint32 { return crc32.ChecksumIEEE(data) }

var big = binary.BigEndian

const positionBytes = len(comment.Position{})

// appendText8 and appendText16 append a text after its length, in 1 and in 2 bytes.
func appendText8(out []byte, text string) []byte {
	return append(append(out, byte(len(text))), text...)
}

func appendText16(out []byte, text string) []byte {
	return append(big.AppendUint16(out, uint16(len(text))), text...)
}

func appendCell(out []byte, cell comment.Cell) []byte {
	return appendText8(append(out, byte(cell.Code())), string(cell.Language))
}

// parser reads values from the front of bytes. Once the bytes are too short it sets short, and
// returns zero values.
type parser struct {
	rest  []byte
	short bool
	texts map[string]string // interned
}

func (p *parser) take(n int) []byte {
	if n > len(p.rest) {
		p.rest, p.short = nil, true
		return make([]byte, n)
	}
	out := p.rest[:n]
	p.rest = p.rest[n:]
	return out
}

func (p *parser) u8() int        { return int(p.take(1)[0]) }
func (p *parser) u16() int       { return int(big.Uint16(p.take(2))) }
func (p *parser) u32() uint32    { return big.Uint32(p.take(4)) }
func (p *parser) u64() uint64    { return big.Uint64(p.take(8)) }
func (p *parser) text8() string  { return p.text(p.u8()) }
func (p *parser) text16() string { return p.text(p.u16()) }

// text reads a text. Repeated texts share memory.
func (p *parser) text(length int) string {
	data := p.take(length)
	if known, ok := p.texts[string(data)]; ok {
		return known
	}
	if p.texts == nil || len(p.texts) > maxTexts {
		p.texts = map[string]string{}
	}
	text := string(data)
	p.texts[text] = text
	return text
}

// maxTexts bounds the texts that a parser remembers.
const maxTexts = 1000

func (p *parser) position() comment.Position { return comment.Position(p.take(positionBytes)) }

func (p *parser) cell() comment.Cell {
	code := p.u8()
	cell, _ := comment.CellOf(comment.Language(p.text8()), code)
	return cell
}

// list reads n values. It stops at the end of the bytes, so a wrong n costs no memory.
func list[T any](p *parser, n int, take func() T) []T {
	var out []T
	for range n {
		if p.short {
			return nil
		}
		out = append(out, take())
	}
	return out
}
