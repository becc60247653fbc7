package httpapi

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// This file sees to characters beyond the first 65,536, which JSON and GraphQL may write as two escapes, a surrogate pair. Go's
// JSON decoder joins pairs, gqlparser does not, and both make U+FFFD of a half without a word: it would be stored.

// escapeLength is that of one escape, such as \uD83D.
const escapeLength = 6

// unit is the UTF-16 unit that a text begins with as an escape.
func unit(text string) (u rune, ok bool) {
	if len(text) < escapeLength || !strings.HasPrefix(text, `\u`) {
		return 0, false
	}
	value, err := strconv.ParseUint(text[2:escapeLength], 16, 16)
	return rune(value), err == nil
}

// escape is what an escape at the beginning of a text stands for, and its length. Half is true for half of a pair. A pair is one
// escape; r is 0 for all others.
func escape(text string) (r rune, length int, half bool) {
	first, ok := unit(text)
	switch {
	case !ok:
		return 0, min(2, len(text)), false
	case !utf16.IsSurrogate(first):
		return 0, escapeLength, false
	}
	second, _ := unit(text[escapeLength:])
	if joined := utf16.DecodeRune(first, second); joined != '�' {
		return joined, 2 * escapeLength, false
	}
	return 0, escapeLength, true
}

// hasHalf tells whether JSON holds half of a pair. A backslash stands in strings only, and always begins an escape.
func hasHalf(json string) bool {
	for {
		start := strings.IndexByte(json, '\\')
		if start < 0 {
			return false
		}
		_, length, half := escape(json[start:])
		if half {
			return true
		}
		json = json[start+length:]
	}
}

// joinPairs writes the pairs in the strings of a query as the characters that they are. It is false when there is half of
// one. Comments and block strings, which have no such escapes, stay as they are.
func joinPairs(query string) (joined string, ok bool) {
	if !strings.Contains(query, `\u`) {
		return query, true
	}
	var out strings.Builder
	for query != "" {
		length := strings.IndexAny(query, `"#`)
		switch {
		case length < 0:
			length = len(query)
		case query[length] == '#':
			length += lineLength(query[length:])
		case strings.HasPrefix(query[length:], `"""`):
			length += blockLength(query[length:])
		default:
			out.WriteString(query[:length])
			query = query[length:]
			if length, ok = joinString(query, &out); !ok {
				return "", false
			}
			query = query[length:]
			continue
		}
		out.WriteString(query[:length])
		query = query[length:]
	}
	return out.String(), true
}

// lineLength is the length of a text up to the end of its line.
func lineLength(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// blockLength is the length of the block string that a text begins with. As the parser has it, the last three of several
// quotes close it.
func blockLength(text string) int {
	const quotes = `"""`
	for length := len(quotes); length < len(text); length++ {
		switch rest := text[length:]; {
		case strings.HasPrefix(rest, `\`+quotes):
			length += len(quotes)
		case strings.HasPrefix(rest, quotes):
			return len(text) - len(strings.TrimLeft(rest, `"`))
		}
	}
	return len(text)
}

// joinString writes the string that a text begins with, and returns its length.
func joinString(text string, out *strings.Builder) (length int, ok bool) {
	length = 1
	out.WriteByte('"')
	for length < len(text) {
		switch c := text[length]; c {
		case '\\':
			r, n, half := escape(text[length:])
			if half {
				return 0, false
			}
			if r != 0 {
				out.WriteRune(r)
			} else {
				out.WriteString(text[length : length+n])
			}
			length += n
		case '"', '\n', '\r': // a string ends with its line, which the parser complains of
			out.WriteByte(c)
			return length + 1, true
		default:
			out.WriteByte(c)
			length++
		}
	}
	return length, true
}
