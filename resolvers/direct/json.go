package direct

import "time"

const null = "null"

// appendText appends a text as gqlgen writes it: it escapes only what JSON does not allow in a
// string.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	out = append(out, '"')
	plain := 0 // where the bytes begin that are not appended yet
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, text[plain:i]...)
		plain = i + 1
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
	return append(append(out, text[plain:]...), '"')
}

// appendCode appends a text that JSON does not escape.
func appendCode(out []byte, text string) []byte {
	return append(append(append(out, '"'), text...), '"')
}

// appendTime appends a time as scalar.MarshalDateTime writes it.
func appendTime(out []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(out, '"'), time.RFC3339Nano), '"')
}
