package httpapi

// This file reads the values of JSON that is known to be valid, as encoding/json does with
// UseNumber. Its decoder would check them again, and takes four times as long.

import (
	"bytes"
	"encoding/json"
)

// textOf returns the string that a JSON value is. ok is false for another value.
func textOf(value []byte) (text string, ok bool) {
	value = trimSpace(value)
	if value[0] != '"' {
		return "", false
	}
	return nameOf(value[:stringLength(value)]), true
}

// objectOf returns the object that a JSON value is. ok is false for another value. Numbers stay as
// they are written, so that large ones keep their digits. Of two members with one name, the last
// counts.
func objectOf(value []byte) (object map[string]any, ok bool) {
	rest := valueReader{value}
	object, ok = rest.value().(map[string]any)
	return object, ok
}

// valueReader reads valid JSON from its beginning.
type valueReader struct{ rest []byte }

// value reads the next value.
func (r *valueReader) value() any {
	switch r.next() {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		return nameOf(r.cut(stringLength(r.rest)))
	}
	end := bytes.IndexAny(r.rest, jsonSpace+",]}")
	if end < 0 {
		end = len(r.rest)
	}
	switch word := r.cut(end); word[0] {
	case 'n':
		return nil
	case 't', 'f':
		return word[0] == 't'
	default:
		return json.Number(word)
	}
}

func (r *valueReader) object() map[string]any {
	object := map[string]any{}
	for r.cut(1); r.next() != '}'; {
		name := nameOf(r.cut(stringLength(r.rest)))
		r.rest = trimMark(r.rest, ':')
		object[name] = r.value()
		r.rest = trimMark(r.rest, ',')
	}
	r.cut(1)
	return object
}

func (r *valueReader) list() []any {
	list := []any{}
	for r.cut(1); r.next() != ']'; {
		list = append(list, r.value())
		r.rest = trimMark(r.rest, ',')
	}
	r.cut(1)
	return list
}

// next returns the next byte that is no white space, and does not read it.
func (r *valueReader) next() byte {
	r.rest = trimSpace(r.rest)
	return r.rest[0]
}

// cut reads so many bytes.
func (r *valueReader) cut(length int) []byte {
	cut := r.rest[:length]
	r.rest = r.rest[length:]
	return cut
}
