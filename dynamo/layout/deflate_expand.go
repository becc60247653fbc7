package layout

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"unicode/utf8"
)

// Errors for bytes that compressText cannot have returned. They hold nothing of the text.
var (
	errDamagedText = errors.New("its compressed text is damaged")
	errTooLarge    = errors.New("its compressed text is larger than a text may be")
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

// ExpandText returns the text that compressText compressed. It returns errTooLarge as soon as the
// text exceeds limit, in bytes, and errDamagedText for most other bytes: DEFLATE has no checksum.
func ExpandText(short []byte, limit int) (string, error) {
	x := expanders.Get().(*expander)
	defer expanders.Put(x)
	size, err := 0, errDamagedText
	if len(short) == 0 || short[0]&marker != marker {
		size, err = x.expandStream(short, limit)
	} else if all, n := presetCodes(), int(short[0]>>markerBits); n < len(all) {
		size, err = x.expandBlock(all[n].reader(), short[1:], limit)
	}
	switch {
	case err != nil:
		return "", err
	case size > limit:
		return "", errTooLarge
	case !utf8.Valid(x.out[:size]):
		return "", errDamagedText
	}
	return string(x.out[:size]), nil
}

// expandBlock expands a block that was written with a preset code. It reads bits once for each
// entry of literals or repetition, which takes 42 of them at most. Arrays of a fixed size avoid
// most bounds checks; where the compiler cannot prove the bounds, they still panic.
func (x *expander) expandBlock(t *codeTables, short []byte, limit int) (size int, err error) {
	x.padded = append(append(x.padded[:0], short...), make([]byte, longestRead)...)
	in, out, r := x.padded, x.out, bitReader{}
	for r.at <= len(in)-8 && size <= limit {
		if size > len(out)-len(repetition{}) {
			out = append(out, make([]byte, len(out))...)
			x.out = out
		}
		r = r.fill(in)
		room := (*repetition)(out[size:])
		e := t.literals[r.next%(1<<maxBits)]
		r = r.skip(uint(e))
		if n := e.count(); n > 0 {
			binary.LittleEndian.PutUint32(room[:], e.letters())
			size += n
			continue
		}
		if e.least() == 0 { // the end of the text
			if rest := r.rest(8 * len(short)); rest < 0 || rest >= 8 {
				return 0, errDamagedText
			}
			return size, nil
		}
		var length, distance int
		length, r = e.number(r)
		e = t.distances[r.next%(1<<maxBits)]
		distance, r = e.number(r.skip(uint(e)))
		if distance > size { // before the beginning of the text
			return 0, errDamagedText
		}
		repeat(room, (*repetition)(out[size-distance:]), distance, length)
		size += length
	}
	if r.rest(8*len(short)) < 0 {
		return 0, errDamagedText
	}
	return size, nil
}

// copyChunk is how many bytes repeat copies at a time. Most repetitions are shorter.
const copyChunk = 8

// repetition has room for the longest repetition, and for the bytes that repeat copies beyond its
// end.
type repetition [maxLength + copyChunk]byte

// repeat copies length bytes, and up to a chunk beyond, from a place distance bytes earlier. The
// two may overlap.
func repeat(to, from *repetition, distance, length int) {
	if distance < copyChunk {
		for i := range length {
			to[i] = from[i]
		}
		return
	}
	for i := 0; i < length; i += copyChunk {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
	}
}

// expandStream expands a complete DEFLATE stream. It reads with the standard library, because the
// library that writes them (klauspost/compress v1.18.0) accepts some truncated streams.
func (x *expander) expandStream(short []byte, limit int) (size int, err error) {
	x.in.Reset(short)
	if x.stream == nil {
		x.stream = flate.NewReader(&x.in)
	} else if err := x.stream.(flate.Resetter).Reset(&x.in, nil); err != nil {
		return 0, errDamagedText
	}
	for {
		n, err := x.stream.Read(x.out[size:])
		switch size += n; {
		case size > limit, err == io.EOF && x.in.Len() == 0:
			return size, nil
		case err != nil:
			return 0, errDamagedText
		case size == len(x.out):
			x.out = append(x.out, make([]byte, len(x.out))...)
		}
	}
}
