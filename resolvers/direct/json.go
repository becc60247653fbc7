package direct

import (
	"slices"
	"time"

	"github.com/talkback/talkback/internal/usage"
)

const null = "null"

// appendText appends a text as gqlgen writes it: it escapes only what JSON does not allow in a
// string.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	out = append(slices.Grow(out, len(text)+2), '"')
	for plain := usage.PlainBytes(text); plain < len(text); plain = usage.PlainBytes(text) {
		c := text[plain]
		out = append(out, text[:plain]...)
		text = text[plain+1:]
		switch c {
		case '\\', '"':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(out, text...), '"')
}

// appendTime appends a time as scalar.MarshalDateTime writes it.
func appendTime(out []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(out, '"'), time.RFC3339Nano), '"')
}
