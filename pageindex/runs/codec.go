package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/talkback/talkback/comment"
)

// format is the first byte of everything that is encoded here.
const format = 1

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
}

// newDecoder returns a decoder of bytes that begin with the format.
func newDecoder(in []byte) *decoder {
	d := &decoder{rest: in}
	if d.byte() != format {
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

// Grids are written as a list of the languages that occur, and then bit by bit: for each grid and
// language one bit says whether there are comments, and if so, five gamma codes say how many. Most
// counts in a run are small; a run with eight languages takes some 15 bytes.
// https://en.wikipedia.org/wiki/Elias_gamma_coding

func appendGrids(out []byte, grids ...comment.Stats) []byte {
	all := map[comment.Language]bool{}
	for _, grid := range grids {
		for language := range grid {
			all[language] = true
		}
	}
	languages := slices.Sorted(maps.Keys(all))
	w := bitWriter{out: appendLanguages(out, languages)}
	for _, grid := range grids {
		for _, language := range languages {
			w.row(grid[language])
		}
	}
	return w.out
}

// grids reads the given number of grids. It returns as many even after an error.
func (d *decoder) grids(number int) []comment.Stats {
	languages := d.languages()
	r := bitReader{decoder: d}
	out := make([]comment.Stats, number)
	for i := range out {
		out[i] = comment.Stats{}
		for _, language := range languages {
			if d.err != nil {
				break // as many languages again for each grid would take minutes
			}
			if row := r.row(); row != (comment.Counts{}) {
				out[i][language] = row
			}
		}
	}
	d.rest = d.rest[min((r.at+7)/8, len(d.rest)):]
	return out
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

// bitWriter appends bits, the highest of a byte first.
type bitWriter struct {
	out  []byte
	free int // bits of the last byte that are not written yet
}

func (w *bitWriter) bit(set bool) {
	if w.free == 0 {
		w.out, w.free = append(w.out, 0), 8
	}
	w.free--
	if set {
		w.out[len(w.out)-1] |= 1 << w.free
	}
}

func (w *bitWriter) row(row comment.Counts) {
	w.bit(row != comment.Counts{})
	if row == (comment.Counts{}) {
		return
	}
	for _, n := range row {
		w.gamma(uint64(n) + 1)
	}
}

// gamma writes a number above 0: as many zeros as it has bits after the first, then the bits.
func (w *bitWriter) gamma(n uint64) {
	for range bits.Len64(n) - 1 {
		w.bit(false)
	}
	for i := bits.Len64(n) - 1; i >= 0; i-- {
		w.bit(n>>i&1 == 1)
	}
}

// bitReader reads bits of a decoder's rest.
type bitReader struct {
	*decoder
	at int
}

func (r *bitReader) bit() bool {
	if r.at/8 >= len(r.rest) {
		r.fail()
		return true // ends a run of zeros
	}
	b := r.rest[r.at/8]>>(7-r.at%8)&1 == 1
	r.at++
	return b
}

func (r *bitReader) row() (row comment.Counts) {
	if !r.bit() || r.err != nil {
		return row
	}
	for i := range row {
		row[i] = int(r.gamma() - 1)
	}
	return row
}

// maxGammaBits bounds a count, so that it fits an int.
const maxGammaBits = 62

func (r *bitReader) gamma() uint64 {
	zeros := 0
	for !r.bit() {
		zeros++
	}
	n := uint64(1)
	for range min(zeros, maxGammaBits) {
		n <<= 1
		if r.bit() {
			n |= 1
		}
	}
	if zeros > maxGammaBits || r.err != nil {
		r.fail()
		return 1
	}
	return n
}
