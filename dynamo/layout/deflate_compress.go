package layout

import (
	"bytes"
	"errors"
	"sync"

	"github.com/klauspost/compress/flate"
)

// How short texts are compressed
//
// Stored texts are DEFLATE (RFC 1951) without its first part, the Huffman codes.
// These take a fifth of a compressed review, and most of the time to expand it.
//
// Instead, there is a preset code for each of a few languages and scripts, as zlib has preset
// dictionaries. The first byte of a compressed text names its code. The rest, after the prefix of
// that code (deflate_prefixes.txt), is DEFLATE, so any DEFLATE reader can read it.
//
// Texts that no preset code suits are complete DEFLATE streams. Their first byte never has both
// bits of marker set, since RFC 1951 reserves that type of block.

// streamLevel searches few places for repetitions. The highest level searches very many: 250 KB of
// one letter take it more than a second, and a usual text becomes 0.2 % shorter.
const streamLevel = 7

// compressor compresses texts, one at a time.
type compressor struct {
	block  blockWriter
	plain  []byte
	out    bytes.Buffer
	stream *flate.Writer // writes complete streams; nil before the first
}

// compressors are pooled, since making one takes longer than using it.
var compressors = sync.Pool{New: func() any { return &compressor{} }}

// compressText returns the text compressed. It is not always shorter than the text.
func compressText(text string) []byte {
	c := compressors.Get().(*compressor)
	defer compressors.Put(c)
	var block []byte
	if len(text) <= maxBlock {
		block = c.block.write(text)
		if len(block) > 0 && len(text) < betweenBoth && len(block)*4 < len(text)*3 {
			return bytes.Clone(block)
		}
	}
	if stream := c.compressStream(text); len(block) == 0 || len(stream) < len(block) {
		return bytes.Clone(stream)
	}
	return bytes.Clone(block)
}

func (c *compressor) compressStream(text string) []byte {
	c.out.Reset()
	if c.stream == nil {
		c.stream, _ = flate.NewWriter(&c.out, streamLevel) // the level is valid
	}
	c.stream.Reset(&c.out)
	c.plain = append(c.plain[:0], text...)
	_, err := c.stream.Write(c.plain)
	if err := errors.Join(err, c.stream.Close()); err != nil {
		panic("deflate: " + err.Error()) // a buffer takes everything
	}
	return c.out.Bytes()
}
