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

// minSaved is by how many bytes a text has to be shorter for being compressed. What saves less is not worth that it can be
// read by a program alone.
const minSaved = 32

// flateLevel is one that looks for a repetition in few places. At the highest, which looks in very many, 250 KB of one letter take
// more than a second, and a usual text is two thousandths shorter.
const flateLevel = 7

// Errors of texts that are not what storedText makes. They hold nothing of the text.
var (
	errDamagedText = errors.New("its compressed text is damaged")
	errLargeText   = errors.New("its compressed text is larger than a text may be")
)

// storedText is the value of a text's attribute.
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

// plainText is the text of what storedText made binary.
func plainText(short []byte) (string, error) {
	i := inflaters.Get().(*inflater)
	defer inflaters.Put(i)
	return i.inflate(short)
}

// deflaters and inflaters are kept between texts, since making one takes longer than using it.
var (
	deflaters = sync.Pool{New: func() any { return newDeflater() }}
	inflaters = sync.Pool{New: func() any { return newInflater() }}
)

// deflater compresses one text after the other.
type deflater struct {
	writer *flate.Writer
	plain  []byte
	out    bytes.Buffer
}

func newDeflater() *deflater {
	d := &deflater{}
	writer, err := flate.NewWriter(&d.out, flateLevel)
	if err != nil {
		panic("dynamo: " + err.Error()) // there is such a level
	}
	d.writer = writer
	return d
}

// deflate returns bytes that are good until the next call.
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

// inflater expands one text after the other.
type inflater struct {
	in     bytes.Reader
	reader io.ReadCloser
	out    []byte
}

// usualText is a size that few texts exceed, in bytes.
const usualText = 4 << 10

func newInflater() *inflater {
	i := &inflater{out: make([]byte, usualText)}
	i.reader = flate.NewReader(&i.in)
	return i
}

// inflate stops where a text is larger than a comment's may be.
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
