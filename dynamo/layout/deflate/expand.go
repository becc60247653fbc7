package deflate

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/talkback/talkback/internal/slab"
)

// Errors of texts that Compress cannot have made. They hold nothing of the text.
var (
	ErrDamaged  = errors.New("its compressed text is damaged")
	ErrTooLarge = errors.New("its compressed text is larger than a text may be")
)

// usualText is a size in bytes that few texts exceed.
const usualText = 4 << 10

// expander expands texts, one at a time.
type expander struct {
	padded []byte
	out    []byte
	in     bytes.Reader
	stream io.ReadCloser // reads complete streams; nil before the first
}

// expanders are pooled, since their buffers are larger than nearly all texts.
var expanders = sync.Pool{New: func() any { return &expander{out: make([]byte, usualText)} }}

// Expand returns the text that Compress compressed. It returns ErrTooLarge as soon as the text
// exceeds limit, in bytes, and ErrDamaged for most other bytes: DEFLATE has no checksum.
func Expand(short []byte, limit int) (string, error) { return ExpandTo(nil, short, limit) }

// ExpandTo is Expand for several texts, which share their allocations.
func ExpandTo(texts *slab.Strings, short []byte, limit int) (string, error) {
	x := expanders.Get().(*expander)
	defer expanders.Put(x)
	size, err := x.expand(short, limit)
	switch {
	case err != nil:
		return "", err
	case size > limit:
		return "", ErrTooLarge
	case !utf8.Valid(x.out[:size]):
		return "", ErrDamaged
	}
	return texts.Join("", x.out[:size]), nil
}

// expand writes the text to x.out and returns its size, or a size above limit.
func (x *expander) expand(short []byte, limit int) (size int, err error) {
	if len(short) == 0 || short[0]&marker != marker {
		return x.expandStream(short, limit)
	}
	all := codes()
	n := int(short[0] >> markerBits)
	if n >= len(all) {
		return 0, ErrDamaged
	}
	return x.expandBlock(all[n].reader(), short[1:], limit)
}

// longestStep is the most that expandBlock writes before it looks for room again: the literals of an
// entry, a repetition, and what repeat copies beyond.
const longestStep = 3 + maxLength + chunk

// expandBlock expands a block that was written with a preset code. Most of a text are literals, so it
// takes those of up to three entries from the bits that it has. These are enough for one entry of
// literals and a repetition after it: 12 bits, and 12+5+12+13.
func (x *expander) expandBlock(t *tables, short []byte, limit int) (size int, err error) {
	x.padded = append(append(x.padded[:0], short...), make([]byte, longestRead)...)
	in, out, all := x.padded, x.out, 8*len(short)
	for r := (bitReader{}); r.rest(all) >= 0; {
		if size+longestStep > len(out) {
			if size > limit {
				return size, nil
			}
			x.out = append(out, make([]byte, len(out))...)
			out = x.out
		}
		r = r.fill(in)
		e := t.literal(r)
		r = r.skip(e.bits())
		if e.literals() > 0 {
			size = put(out, size, e)
			e = t.literal(r)
			r = r.skip(e.bits())
		}
		if e.literals() > 0 {
			size = put(out, size, e)
			if e = t.literal(r); e.literals() > 0 {
				r = r.skip(e.bits())
				size = put(out, size, e)
			}
			continue
		}
		if e.least() == 0 {
			if rest := r.rest(all); rest < 0 || rest >= 8 {
				return 0, ErrDamaged
			}
			return size, nil
		}
		var length, distance int
		length, r = e.number(r)
		e = t.distance(r)
		distance, r = e.number(r.skip(e.bits()))
		if distance > size {
			return 0, ErrDamaged
		}
		repeat(out, size, distance, length)
		size += length
	}
	return 0, ErrDamaged
}

// put writes the literals of an entry, and up to three bytes beyond. It returns where they end.
func put(out []byte, size int, e entry) int {
	binary.LittleEndian.PutUint32(out[size:], uint32(e>>firstLiteral))
	return size + int(e.literals())
}

// chunk is how many bytes repeat copies at a time. Most repetitions are shorter.
const chunk = 8

// repeat copies length bytes from distance before size, and up to a chunk beyond. The copy may
// overlap with what it copies.
func repeat(out []byte, size, distance, length int) {
	if distance < chunk {
		for i := size; i < size+length; i++ {
			out[i] = out[i-distance]
		}
		return
	}
	for i := size; i < size+length; i += chunk {
		binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(out[i-distance:]))
	}
}

// expandStream expands a complete DEFLATE stream. The library that writes them takes some that are
// cut for complete (klauspost/compress v1.18.0), so the standard library reads them.
func (x *expander) expandStream(short []byte, limit int) (size int, err error) {
	x.in.Reset(short)
	if x.stream == nil {
		x.stream = flate.NewReader(&x.in)
	} else if err := x.stream.(flate.Resetter).Reset(&x.in, nil); err != nil {
		return 0, ErrDamaged
	}
	for {
		n, err := x.stream.Read(x.out[size:])
		switch size += n; {
		case size > limit, err == io.EOF && x.in.Len() == 0:
			return size, nil
		case err != nil:
			return 0, ErrDamaged
		case size == len(x.out):
			x.out = append(x.out, make([]byte, len(x.out))...)
		}
	}
}
