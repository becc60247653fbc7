package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"sync"
	"unicode/utf8"

	"github.com/go-faster/jx"
)

// ErrUnusual is the error of an answer that has to be left to the SDK's decoder. Nothing of what
// was decoded may be used.
var ErrUnusual = errors.New("not a usual answer")

// decoders are pooled: an answer is decoded without keeping anything of its decoder.
var decoders = sync.Pool{New: func() any { return new(jx.Decoder) }}

// decode reads the members of an answer. What is left unread after it is ignored, as the SDK does.
func decode(body []byte, member func(d *jx.Decoder, name []byte) error) error {
	if !utf8.Valid(body) || escapesSurrogate(body) { // jx makes of these what the SDK does not
		return ErrUnusual
	}
	d := decoders.Get().(*jx.Decoder)
	d.ResetBytes(body)
	defer func() {
		d.ResetBytes(nil)
		decoders.Put(d)
	}()
	if err := members(d, member); err != nil {
		return ErrUnusual
	}
	return nil
}

// escapesSurrogate reports whether JSON may escape half of a character, such as \ud83d.
func escapesSurrogate(body []byte) bool {
	for {
		i := bytes.Index(body, []byte(`\u`))
		if i < 0 || len(body) < i+4 {
			return false
		}
		if body = body[i+2:]; body[0]|' ' == 'd' && body[1] > '7' {
			return true
		}
	}
}

// members calls read for each member of an object.
func members(d *jx.Decoder, read func(d *jx.Decoder, name []byte) error) error {
	all, err := d.ObjIter()
	if err != nil {
		return err
	}
	for all.Next() {
		if err := read(d, all.Key()); err != nil {
			return err
		}
	}
	return all.Err()
}

// elements calls read for each element of an array.
func elements(d *jx.Decoder, read func(d *jx.Decoder) error) error {
	all, err := d.ArrIter()
	if err != nil {
		return err
	}
	for all.Next() {
		if err := read(d); err != nil {
			return err
		}
	}
	return all.Err()
}

// binary reads bytes, which JSON holds in base64.
func binary(d *jx.Decoder) ([]byte, error) {
	text, err := d.StrBytes()
	if err != nil {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	return out[:n], err
}
