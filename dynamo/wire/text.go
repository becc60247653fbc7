package wire

import (
	enc "encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string. One with escapes is appended to room.
func (s *plainScanner) quoted(room *[]byte) (text []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	text, isASCII := s.unescaped()
	if !s.take('"') {
		from := len(*room)
		if *room, ok = s.escaped(*room, text); !ok {
			return nil, false
		}
		text, isASCII = (*room)[from:], false // as far as is known
	}
	return text, isASCII || utf8.Valid(text)
}

// unescaped reads the part of a string before its end or its next escape. isASCII is that of
// plainBytes.
func (s *plainScanner) unescaped() (text []byte, isASCII bool) {
	text, isASCII = plainBytes(s.rest())
	s.at += len(text)
	return text, isASCII
}

// escaped reads a string from its first escape on, and appends it and what came before.
func (s *plainScanner) escaped(to, before []byte) (text []byte, ok bool) {
	to = append(to, before...)
	for !s.take('"') {
		c, ok := s.escape()
		if !ok {
			return to, false
		}
		plain, _ := s.unescaped()
		to = append(utf8.AppendRune(to, c), plain...)
	}
	return to, true
}

// escape reads one escape. Halves of characters, such as \ud83d, are not usual.
func (s *plainScanner) escape() (c rune, ok bool) {
	rest := s.rest()
	if len(rest) < len(`\n`) || rest[0] != '\\' {
		return 0, false
	}
	const names, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(names, rest[1]); i >= 0 {
		s.at += len(`\n`)
		return rune(meanings[i]), true
	}
	if len(rest) < len(`\u0000`) || rest[1] != 'u' {
		return 0, false
	}
	code, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	s.at += len(`\u0000`)
	return rune(code), err == nil && !utf16.IsSurrogate(rune(code))
}

// plainBytes returns the bytes that come before the first that JSON does not allow in a string:
// quote, backslash or control character. It looks at eight bytes at a time. If isASCII, they are
// ASCII; if not, perhaps still.
func plainBytes(text []byte) (plain []byte, isASCII bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	all, i := uint64(0), 0
	for ; i <= len(text)-8; i += 8 {
		word := enc.LittleEndian.Uint64(text[i:])
		all |= word
		// https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord. Flipping bit 1 makes a
		// quote a space, a control character another one, and nothing else either.
		low, backslash := (word^ones*2)-ones*('"'-1), (word^ones*'\\')-ones
		if special := (low | backslash) &^ word & highs; special != 0 {
			return text[:i+bits.TrailingZeros64(special)/8], all&highs == 0
		}
	}
	for ; i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\'; i++ {
		all |= uint64(text[i])
	}
	return text[:i], all&highs == 0
}
