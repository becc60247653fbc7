package httpapi

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// marked matches comments, block strings and strings. As in the parser, the last three of several
// quotes close a block string. An unclosed one extends to the end.
var marked = regexp.MustCompile(`#[^\r\n]*|"""(?s:\\"""|.)*?(?:""""*|\z)|"(?:\\[^\r\n]|[^"\\\r\n])*"?`)

// wholePairs reports whether no string of a query has half of a surrogate pair, such as \uD83D
// alone, which gqlparser would turn into U+FFFD. Comments and block strings have no such escapes.
func wholePairs(query string) bool {
	if !strings.Contains(query, `\u`) {
		return true
	}
	for _, part := range marked.FindAllString(query, -1) {
		if part[0] != '#' && !strings.HasPrefix(part, `"""`) && !wholeString(part) {
			return false
		}
	}
	return true
}

// wholeString is wholePairs for one string.
func wholeString(rest string) bool {
	for {
		_, escape, found := strings.Cut(rest, `\`)
		if !found {
			return true
		}
		first, surrogate := unit(escape)
		if !surrogate { // its letter may be a backslash
			rest = escape[min(1, len(escape)):]
			continue
		}
		var second rune
		if next, escaped := strings.CutPrefix(escape[len(`uD83D`):], `\`); escaped {
			second, _ = unit(next)
		}
		if utf16.DecodeRune(first, second) == unicode.ReplacementChar {
			return false
		}
		rest = escape[len(`uD83D\uDE00`):]
	}
}

// unit returns the UTF-16 unit of an escape such as uD83D, and false if it is no half of a pair.
func unit(escape string) (rune, bool) {
	if len(escape) < len(`uD83D`) || escape[0] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(escape[1:5], 16, 16)
	return rune(value), err == nil && utf16.IsSurrogate(rune(value))
}
