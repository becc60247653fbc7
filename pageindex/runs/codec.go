package runs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/talkback/talkback/comment"
)

// formats are the first byte of every encoding. Values without any traits use the original format,
// from before there were traits.
const (
	formatPlain = 1
	formatSplit = 2
)

// formatOf returns the format of a value, by whether its counts are split by traits.
func formatOf(split bool) byte {
	if split {
		return formatSplit
	}
	return formatPlain
}

// ErrTorn means that parts of an index do not fit together, or cannot be decoded. Parts read at
// different times may not fit: the reader reads all of them again, consistently. If that does not
// help, the table is damaged.
var ErrTorn = errors.New("the parts of the page index do not fit together")

// errDamaged is the error about bytes that Encode cannot have written.
var errDamaged = fmt.Errorf("%w: the bytes are damaged, or of a later release", ErrTorn)

// appendPosition writes a position in a short form: how many leading bytes it shares with near, and
// the rest up to the last byte that is not zero. The reader must know near.
func appendPosition(out []byte, p, near comment.Position) []byte {
	shared := 0
	for shared < len(p)-1 && p[shared] == near[shared] {
		shared++
	}
	end := len(p)
	for end > shared && p[end-1] == 0 {
		end--
	}
	if end-shared == len(p) {
		return append(append(out, wholePosition), p[:]...)
	}
	return append(append(out, byte(shared<<4|(end-shared))), p[shared:end]...)
}

// wholePosition marks 16 bytes, a number that four bits cannot hold.
const wholePosition = 0xff

// boundBytes is how many bytes of a position tell runs apart: the time, and two more.
const boundBytes = 8

// shortAbove returns a position above p with zeros at the end, which is short when written. There
// is none above MaxPosition.
func shortAbove(p comment.Position) comment.Position {
	short := p
	clear(short[boundBytes:])
	for i := boundBytes - 1; i >= 0; i-- {
		if short[i]++; short[i] != 0 {
			return short
		}
	}
	return p.Next()
}

// shortBetween returns a position above low and at most high, with as many zeros at its end as
// possible. Low must be below high.
func shortBetween(low, high comment.Position) (short comment.Position) {
	for i := range high {
		if short[i] = high[i]; short.Compare(low) > 0 {
			return short
		}
	}
	return high
}

// decoder decodes bytes. After the first error, it returns zero values.
type decoder struct {
	rest []byte
	err  error
	// split means that counts are split by traits.
	split bool
}

// newDecoder returns a decoder of bytes that begin with a format.
func newDecoder(in []byte) *decoder {
	d := &decoder{rest: in}
	switch d.byte() {
	case formatPlain:
	case formatSplit:
		d.split = true
	default:
		d.fail()
	}
	return d
}

func (d *decoder) fail() {
	d.rest, d.err = nil, errDamaged
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	n, read := binary.Uvarint(d.rest)
	if read <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[read:]
	return n
}

// length reads the number of parts that follow. Each part takes at least one byte.
func (d *decoder) length() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.fail()
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// position reads a position that was written relative to another.
func (d *decoder) position(near comment.Position) (p comment.Position) {
	header := d.byte()
	if header == wholePosition {
		copy(p[:], d.bytes(len(p)))
		return p
	}
	shared, further := int(header>>4), int(header&15)
	if shared+further > len(p) {
		d.fail()
		return p
	}
	copy(p[:shared], near[:])
	copy(p[shared:], d.bytes(further))
	return p
}

func appendLanguages(out []byte, languages []comment.Language) []byte {
	out = binary.AppendUvarint(out, uint64(len(languages)))
	for _, language := range languages {
		out = append(binary.AppendUvarint(out, uint64(len(language))), language...)
	}
	return out
}

func (d *decoder) languages() []comment.Language {
	var out []comment.Language
	for range d.length() {
		out = append(out, comment.Language(d.bytes(d.length())))
	}
	return out
}
