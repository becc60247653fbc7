package deflate

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
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
	whole  []byte // a prefix and the text behind it
	out    []byte
	in     bytes.Reader
	stream io.ReadCloser // nil before the first text
}

// expanders are pooled, since their buffers are larger than nearly all texts.
var expanders = sync.Pool{New: func() any { return &expander{out: make([]byte, usualText)} }}

// Expand returns the text that Compress compressed. It returns ErrTooLarge as soon as the text
// exceeds limit, in bytes, and ErrDamaged for most other bytes: DEFLATE has no checksum.
func Expand(short []byte, limit int) (string, error) {
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
	return string(x.out[:size]), nil
}

// expand writes the text to x.out and returns its size, or a size above limit.
func (x *expander) expand(short []byte, limit int) (size int, err error) {
	if len(short) > 0 && short[0]&marker == marker {
		all, n := codes(), int(short[0]>>markerBits)
		if n >= len(all) {
			return 0, ErrDamaged
		}
		x.whole = append(append(x.whole[:0], all[n].prefix...), short[1:]...)
		short = x.whole
	}
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
