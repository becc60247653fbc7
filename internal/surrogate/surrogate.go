// Package surrogate reads surrogate pairs. JSON and GraphQL may write a character beyond the first
// 65,536 as two escapes, such as \uD83D\uDE00. Go's JSON decoder joins pairs, gqlparser does not,
// and both replace half of a pair by U+FFFD without an error.
package surrogate

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// escapeLength is the length of one escape, such as \uD83D.
const escapeLength = 6

// Escape reads the escape that a text begins with: r is the character of a pair, and 0 for every
// other escape; length is in bytes, both halves of a pair included; half tells that it is half of a
// pair, and r is 0.
func Escape(text string) (r rune, length int, half bool) {
	first, ok := unit(text)
	switch {
	case !ok:
		return 0, min(2, len(text)), false
	case !utf16.IsSurrogate(first):
		return 0, escapeLength, false
	}
	second, _ := unit(text[escapeLength:])
	if joined := utf16.DecodeRune(first, second); joined != unicode.ReplacementChar {
		return joined, 2 * escapeLength, false
	}
	return 0, escapeLength, true
}

// HalfInJSON tells whether valid JSON holds half of a pair. A backslash stands in strings only, and
// always begins an escape.
func HalfInJSON(json string) bool {
	for {
		start := strings.IndexByte(json, '\\')
		if start < 0 {
			return false
		}
		_, length, half := Escape(json[start:])
		if half {
			return true
		}
		json = json[start+length:]
	}
}

// unit is the UTF-16 unit that a text begins with as an escape.
func unit(text string) (u rune, ok bool) {
	if len(text) < escapeLength || !strings.HasPrefix(text, `\u`) {
		return 0, false
	}
	value, err := strconv.ParseUint(text[2:escapeLength], 16, 16)
	return rune(value), err == nil
}
