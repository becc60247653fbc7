package objects

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/talkback/talkback/comment"
)

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
