package runs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/talkback/talkback/comment"
)

// formats are the first byte of everything that is encoded here. What has no comment with traits is
// written as before there were any.
const (
	formatPlain = 1
	formatSplit = 2
)

// formatOf returns the format of what has comments with traits, or has none.
func formatOf(split bool) byte {
	if split {
		return formatSplit
	}
	return formatPlain
}

// ErrTorn says that parts of an index do not fit together, or cannot be read. Parts that were read
// at different moments may not fit: a reader reads all of them again, consistently. If that does
// not help, the table is damaged.
var ErrTorn = errors.New("the parts of the page index do not fit together")

// errDamaged is the cause of errors about bytes that Encode cannot have made.
var errDamaged = fmt.Errorf("%w: the bytes are damaged, or of a later release", ErrTorn)

// appendPosition writes a position: how many bytes it shares with another, which the reader knows,
// and its further bytes up to the last that is not zero.
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

// wholePosition announces 16 bytes, which four bits cannot.
const wholePosition = 0xff

// boundBytes is how many bytes of a position are enough to tell runs apart: the time, and two more.
const boundBytes = 8

// shortAbove returns a position above p whose last bytes are zero, which is short when written.
// There is none above MaxPosition.
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

// shortBetween returns a position above low and at or below high, with as many zeros at its end as
// possible. Low must be below high.
func shortBetween(low, high comment.Position) (short comment.Position) {
	for i := range high {
		if short[i] = high[i]; short.Compare(low) > 0 {
			return short
		}
	}
	return high
}

// decoder reads bytes. After the first error, everything reads as zero.
type decoder struct {
	rest []byte
	err  error
	// split says that counts are split by traits.
	split bool
}

// newDecoder returns a decoder of bytes that begin with the format.
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

// length reads the number of parts that follow, each of a byte at least.
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

// position reads a position that was written near another.
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
