package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads JSON value by value. It refuses bytes that are not UTF-8, and halves of surrogate
// pairs. Of two members of an object with one name, the caller sees both.
type jsonReader struct{ *jsontext.Decoder }

// readJSON calls read for one JSON value, and refuses anything after it. The errors of read are
// those of the reader, or refusals.
func readJSON(text []byte, read func(jsonReader) error) *refusal {
	in := jsonReader{jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
	err := read(in)
	if err == nil {
		if _, err = in.ReadToken(); err == io.EOF {
			return nil
		}
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused
	case !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return badJSON
	case !utf8.Valid(text):
		return badText
	}
	return halfPair
}

// object reads an object. The function reads the value of each member.
func (r jsonReader) object(member func(name string) error) error {
	if _, err := r.ReadToken(); err != nil {
		return err
	}
	for r.PeekKind() != '}' {
		name, err := r.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

// value reads any value. Numbers stay as they are written, so that large ones keep their digits. Of
// two members with one name, the last counts.
func (r jsonReader) value() (any, error) {
	switch r.PeekKind() {
	case '{':
		object := map[string]any{}
		return object, r.object(func(name string) (err error) {
			object[name], err = r.value()
			return err
		})
	case '[':
		return r.list()
	}
	token, err := r.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func (r jsonReader) list() (any, error) {
	list := []any{}
	_, err := r.ReadToken()
	for err == nil && r.PeekKind() != ']' {
		var element any
		element, err = r.value()
		list = append(list, element)
	}
	if err == nil {
		_, err = r.ReadToken()
	}
	return list, err
}

// mustJSON encodes what this service put into a response.
func mustJSON(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return out
}
