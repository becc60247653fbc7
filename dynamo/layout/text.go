package layout

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/klauspost/compress/flate"

	"github.com/talkback/talkback/comment"
)

// minSaved is how many bytes compression must save for a text to be stored compressed. A smaller
// saving is not worth a text that people cannot read in the table.
const minSaved = 32

// flateLevel searches few places for repetitions. The highest level searches very many: 250 KB of
// one letter take it more than a second, and a usual text becomes 0.2 % shorter.
const flateLevel = 7

// Errors of texts that storedText cannot have made. They hold nothing of the text.
var (
	errDamagedText = errors.New("its compressed text is damaged")
	errLargeText   = errors.New("its compressed text is larger than a text may be")
)

// storedText returns the attribute value that stores a text: binary if compression saves at least
// minSaved bytes.
func storedText(text string) types.AttributeValue {
	if len(text) <= minSaved {
		return Text(text)
	}
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	short := d.deflate(text)
	if len(short)+minSaved > len(text) {
		return Text(text)
	}
	return &types.AttributeValueMemberB{Value: bytes.Clone(short)}
}

// plainText returns the text that storedText compressed.
func plainText(short []byte) (string, error) {
	i := inflaters.Get().(*inflater)
	defer inflaters.Put(i)
	return i.inflate(short)
}

// deflaters and inflaters are pooled, since making one takes longer than using it.
var (
	deflaters = sync.Pool{New: func() any { return newDeflater() }}
	inflaters = sync.Pool{New: func() any { return newInflater() }}
)

// deflater compresses texts, one at a time.
type deflater struct {
	writer *flate.Writer
	plain  []byte
	out    bytes.Buffer
}

func newDeflater() *deflater {
	d := &deflater{}
	writer, err := flate.NewWriter(&d.out, flateLevel)
	if err != nil {
		panic("dynamo: " + err.Error()) // the level is a valid constant
	}
	d.writer = writer
	return d
}

// deflate returns the compressed text. The bytes are valid until the next call.
func (d *deflater) deflate(text string) []byte {
	d.out.Reset()
	d.writer.Reset(&d.out)
	d.plain = append(d.plain[:0], text...)
	_, err := d.writer.Write(d.plain)
	if err := errors.Join(err, d.writer.Close()); err != nil {
		panic("dynamo: " + err.Error()) // a buffer takes everything
	}
	return d.out.Bytes()
}

// inflater decompresses texts, one at a time.
type inflater struct {
	in     bytes.Reader
	reader io.ReadCloser
	out    []byte
}

// usualText is a size in bytes that few texts exceed.
const usualText = 4 << 10

func newInflater() *inflater {
	i := &inflater{out: make([]byte, usualText)}
	i.reader = flate.NewReader(&i.in)
	return i
}

// inflate returns the text. It stops with errLargeText once the text exceeds comment.MaxTextBytes.
func (i *inflater) inflate(short []byte) (string, error) {
	i.in.Reset(short)
	if err := i.reader.(flate.Resetter).Reset(&i.in, nil); err != nil {
		return "", errDamagedText
	}
	for size := 0; ; {
		n, err := i.reader.Read(i.out[size:])
		switch size += n; {
		case size > comment.MaxTextBytes:
			return "", errLargeText
		case err == io.EOF && i.in.Len() == 0 && utf8.Valid(i.out[:size]):
			return string(i.out[:size]), nil
		case err != nil:
			return "", errDamagedText
		case size == len(i.out):
			i.out = append(i.out, make([]byte, len(i.out))...)
		}
	}
}
