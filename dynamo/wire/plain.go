package wire

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-faster/jx"
	"github.com/segmentio/asm/base64"
)

// PlainQuery is [Query] for an answer as DynamoDB writes it: without white space, and with names
// that need no escapes. It takes half of the time. Any other answer is ErrUnusual here.
func PlainQuery(body []byte, out *dynamodb.QueryOutput, each func(*Record)) error {
	given, rest := false, queryMember(out, nil)
	return decodePlain(body, each, func(a *plainAnswer, name []byte) error {
		switch {
		case string(name) == "LastEvaluatedKey":
			return a.key(&out.LastEvaluatedKey)
		case string(name) != "Items":
			return a.member(name, rest)
		case given:
			return ErrUnusual
		}
		given = true
		return a.items()
	})
}

// PlainBatchGetItem is [BatchGetItem] for an answer as PlainQuery wants it.
func PlainBatchGetItem(body []byte, out *dynamodb.BatchGetItemOutput, each func(*Record)) error {
	tables, rest := 0, batchMember(out, nil)
	return decodePlain(body, each, func(a *plainAnswer, name []byte) error {
		if string(name) != "Responses" {
			return a.member(name, rest)
		}
		return a.members(func([]byte) error {
			if tables++; tables > 1 { // nothing here asks several
				return ErrUnusual
			}
			return a.items()
		})
	})
}

// plainAnswer reads an answer from its beginning. Of what is plain it takes the bytes as they are.
// All else it leaves to jx: nested values, members that are no items.
type plainAnswer struct {
	plainScanner
	record Record
	each   func(*Record)
	d      jx.Decoder
	room   []byte // for binaries
}

// plainAnswers are pooled for the room they have. Nothing of an answer is kept in them.
var plainAnswers = sync.Pool{New: func() any { return new(plainAnswer) }}

// free gives the room back.
func (a *plainAnswer) free() {
	a.text, a.each = nil, nil
	a.record.clear()
	a.d.ResetBytes(nil)
	plainAnswers.Put(a)
}

// decodePlain calls member for each member of an answer.
func decodePlain(body []byte, each func(*Record), member func(a *plainAnswer, name []byte) error) error {
	a := plainAnswers.Get().(*plainAnswer)
	defer a.free()
	a.plainScanner, a.each = plainScanner{text: body}, each
	if err := a.members(func(name []byte) error { return member(a, name) }); err != nil {
		return ErrUnusual
	}
	return nil
}

// members calls read for each member of an object. It reads the value.
func (a *plainAnswer) members(read func(name []byte) error) error {
	if a.skip("{}") {
		return nil
	}
	start := byte('{')
	for ; a.take(start); start = ',' {
		name, ok := a.name()
		if !ok || !a.take(':') {
			return ErrUnusual
		}
		if err := read(name); err != nil {
			return err
		}
	}
	return a.end(start, '}')
}

// items reads a list of items, and hands each over.
func (a *plainAnswer) items() error {
	if a.skip("[]") {
		return nil
	}
	start := byte('[')
	for ; a.take(start); start = ',' {
		if err := a.item(); err != nil {
			return err
		}
		a.each(&a.record)
	}
	return a.end(start, ']')
}

// item reads an item into the record.
func (a *plainAnswer) item() error {
	a.record.begin()
	if a.skip("{}") {
		return nil
	}
	start := byte('{')
	for ; a.take(start); start = ',' {
		name, kind := a.lettered()
		if kind == 0 {
			var ok bool
			if name, ok = a.name(); !ok || !a.take(':') {
				return ErrUnusual
			}
			kind = a.kind()
		}
		if err := a.attribute(name, kind); err != nil {
			return err
		}
	}
	return a.end(start, '}')
}

// key reads the key of an item in an index. Here, all of its attributes are strings.
func (a *plainAnswer) key(to *map[string]types.AttributeValue) error {
	if err := a.item(); err != nil {
		return err
	}
	attributes := a.record.attributes[1:]
	key := make(map[string]types.AttributeValue, len(attributes))
	values := make([]types.AttributeValueMemberS, len(attributes))
	for i := range attributes {
		attribute := &attributes[i]
		if attribute.value.Kind != Text {
			return ErrUnusual
		}
		values[i].Value = a.record.Join("", attribute.value.Bytes)
		key[a.record.Join("", attribute.name)] = &values[i]
	}
	*to = key
	return nil
}

// attribute reads the value of an attribute: an object whose only member has the type for its name.
// What lettered or kind reads of it was read.
func (a *plainAnswer) attribute(name []byte, kind byte) error {
	to, err := a.record.add(name)
	if err != nil {
		return err
	}
	switch kind {
	case 'S':
		to.Kind = Text
		to.Bytes, err = a.string()
	case 'N':
		to.Kind = Number
		to.Bytes, err = a.string()
	case 'B':
		to.Kind = Binary
		to.Bytes, err = a.binary()
	case 'M':
		to.Kind = Map
		if to.Bytes = a.rows(); to.Bytes == nil {
			to.Bytes, err = a.nested('{')
		}
	case 'L':
		to.Kind = List
		to.Bytes, err = a.nested('[')
	default:
		to.Kind = Flag
		to.Flag, err = a.flag()
	}
	if err != nil {
		return err
	}
	return a.must('}')
}

// lettered reads an attribute that has a letter for its name, up to the type of its value, as in
// "a":{"S":. Most are such. It returns 0 for any other, and reads nothing.
func (a *plainAnswer) lettered() (name []byte, kind byte) {
	const form = `"a":{"S":`
	rest := a.rest()
	if len(rest) < len(form) || rest[0] != '"' || rest[1] < 'a' || rest[1] > 'z' || string(rest[2:6]) != `":{"` || string(rest[7:9]) != `":` {
		return nil, 0
	}
	a.at += len(form)
	return rest[1:2], rest[6]
}

// kind reads the beginning of a value whose type has a letter for its name, such as S of {"S":. It
// returns 0 for any other, and reads nothing.
func (a *plainAnswer) kind() byte {
	const form = `{"S":`
	rest := a.rest()
	if len(rest) < len(form) || rest[0] != '{' || rest[1] != '"' || rest[3] != '"' || rest[4] != ':' {
		return 0
	}
	a.at += len(form)
	return rest[2]
}

// flag reads a boolean with the name of its type.
func (a *plainAnswer) flag() (bool, error) {
	if a.skip(`{"BOOL":true`) {
		return true, nil
	}
	if a.skip(`{"BOOL":false`) {
		return false, nil
	}
	return false, ErrUnusual
}

// string reads a string.
func (a *plainAnswer) string() ([]byte, error) {
	text, ok := a.quoted(&a.record.text)
	if !ok {
		return nil, ErrUnusual
	}
	return text, nil
}

// binary reads bytes, which JSON holds in base64.
func (a *plainAnswer) binary() ([]byte, error) {
	if !a.take('"') {
		return nil, ErrUnusual
	}
	end := bytes.IndexByte(a.rest(), '"')
	if end < 0 {
		return nil, ErrUnusual
	}
	text := a.rest()[:end]
	a.at += end + 1
	if length := base64.StdEncoding.DecodedLen(len(text)); a.room == nil || len(a.room) < length {
		a.room = make([]byte, max(length, roomFor))
	}
	n, err := base64.StdEncoding.Decode(a.room, text)  // quicker with room behind the last byte
	if base64.StdEncoding.EncodedLen(n) != len(text) { // ends of lines, which base64 skips
		return nil, ErrUnusual
	}
	out := a.room[:n:n]
	a.room = a.room[n:]
	return out, err
}

// roomFor is for how many bytes room is made at once: some compressed texts. As long as one of them
// is kept, the others are.
const roomFor = 2 << 10

// rows reads a map of lists of whole numbers as JSON, nil if another value comes next. jx would take
// four times as long to see that it is well-formed.
func (a *plainAnswer) rows() []byte {
	end := a.plainScanner
	if !end.rows(func([]byte, []int64) {}) {
		return nil
	}
	rows := a.text[a.at:end.at]
	a.at = end.at
	return rows
}

// nested reads a list or a map as JSON.
func (a *plainAnswer) nested(opened byte) ([]byte, error) {
	if !a.next(opened) {
		return nil, ErrUnusual
	}
	return a.raw()
}

// member reads a member that has no items in it.
func (a *plainAnswer) member(name []byte, read func(d *jx.Decoder, name []byte) error) error {
	raw, err := a.raw()
	if err != nil {
		return err
	}
	a.d.ResetBytes(raw)
	return read(&a.d, name)
}

// raw reads any value as JSON.
func (a *plainAnswer) raw() (jx.Raw, error) {
	if a.at == len(a.text) || a.text[a.at] <= ' ' { // jx would leave white space out of what it returns
		return nil, ErrUnusual
	}
	a.d.ResetBytes(a.rest())
	raw, err := a.d.Raw()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) || escapesSurrogate(raw) {
		return nil, ErrUnusual
	}
	a.at += len(raw)
	return raw, nil
}

// end takes the bracket behind the elements of a list or an object. Unless a comma could come in its
// place, there was no element, and so no bracket before it.
func (a *plainAnswer) end(awaited, closing byte) error {
	if awaited != ',' {
		return ErrUnusual
	}
	return a.must(closing)
}

// must takes a byte that has to come next.
func (a *plainAnswer) must(c byte) error {
	if !a.take(c) {
		return ErrUnusual
	}
	return nil
}
