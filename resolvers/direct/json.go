package direct

import (
	"bytes"
	"time"

	"github.com/talkback/talkback/internal/usage"
)

const null = "null"

// texts are those of a value, in the order in which it is written: how many bytes of each come before
// the first that is escaped. That is looked for when a text is counted, and known when it is written.
type texts []uint32

// count returns how many bytes appendText will append for the next text.
func (t *texts) count(text string) int {
	plain := usage.PlainBytes(text)
	*t = append(*t, uint32(plain))
	return plain + usage.QuotedBytes(text[plain:])
}

// appendText appends the first text as gqlgen writes it: it escapes only what JSON does not allow in a
// string.
func (t *texts) appendText(out []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	plain := int((*t)[0])
	*t = (*t)[1:]
	out = append(out, '"')
	for ; plain < len(text); plain = usage.PlainBytes(text) {
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

// appendTime appends a time as scalar.MarshalDateTime writes it. Usual times have a year of four
// digits, and milliseconds. The time package takes twice as many instructions for them.
func appendTime(out []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	milliseconds, beyond := t.Nanosecond()/1e6, t.Nanosecond()%1e6
	if year < 0 || year > 9999 || beyond != 0 {
		return append(t.AppendFormat(append(out, '"'), time.RFC3339Nano), '"')
	}
	hour, minute, second := t.Clock()
	out = appendPair(append(out, '"'), year/100)
	out = appendPair(out, year%100)
	out = appendPair(append(out, '-'), int(month))
	out = appendPair(append(out, '-'), day)
	out = appendPair(append(out, 'T'), hour)
	out = appendPair(append(out, ':'), minute)
	out = appendPair(append(out, ':'), second)
	if milliseconds > 0 { // without the zeros at their end
		out = appendPair(append(out, '.', '0'+byte(milliseconds/100)), milliseconds%100)
		out = bytes.TrimRight(out, "0")
	}
	return append(out, 'Z', '"')
}

// appendPair appends a number of two digits.
func appendPair(out []byte, number int) []byte {
	return append(out, '0'+byte(number/10), '0'+byte(number%10))
}
