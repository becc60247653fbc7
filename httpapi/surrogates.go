package httpapi

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

// marked matches comments, block strings and strings. As in the parser, the last three of several
// quotes close a block string. An unclosed one extends to the end.
var marked = regexp.MustCompile(`#[^\r\n]*|"""(?s:\\"""|.)*?(?:""""*|\z)|"(?:\\[^\r\n]|[^"\\\r\n])*"?`)

// joinPairs replaces each surrogate pair such as \uD83D\uDE00 in the strings of a query by its
// character: gqlparser would turn each half into U+FFFD. ok is false if there is half of a pair.
// Comments and block strings have no such escapes.
func joinPairs(query string) (joined string, ok bool) {
	if !strings.Contains(query, `\u`) {
		return query, true
	}
	ok = true
	return marked.ReplaceAllStringFunc(query, func(part string) string {
		if part[0] == '#' || strings.HasPrefix(part, `"""`) {
			return part
		}
		joined, whole := joinString(part)
		ok = ok && whole
		return joined
	}), ok
}

// joinString is joinPairs for one string. Spaces behind the string make up for its lost length, so
// that errors name the columns of what was sent. A string that the parser refuses stays as it is:
// the error is then inside, where spaces would change its column.
func joinString(sent string) (joined string, ok bool) {
	var out strings.Builder
	pairs := 0
	for rest := sent; rest != ""; {
		before, escape, found := strings.Cut(rest, `\`)
		out.WriteString(before)
		if !found {
			break
		}
		first, surrogate := unit(escape)
		if !surrogate { // its letter may be a backslash
			letter := min(1, len(escape))
			out.WriteString(`\` + escape[:letter])
			rest = escape[letter:]
			continue
		}
		var second rune
		if next, escaped := strings.CutPrefix(escape[len(`uD83D`):], `\`); escaped {
			second, _ = unit(next)
		}
		character := utf16.DecodeRune(first, second)
		if character == unicode.ReplacementChar {
			return sent, false
		}
		out.WriteRune(character)
		rest = escape[len(`uD83D\uDE00`):]
		pairs++
	}
	reader := lexer.New(&ast.Source{Input: sent})
	if _, err := reader.ReadToken(); err != nil {
		return sent, true
	}
	return out.String() + strings.Repeat(" ", pairs*(len(`\uD83D\uDE00`)-1)), true
}

// unit returns the UTF-16 unit of an escape such as uD83D, and false if it is no half of a pair.
func unit(escape string) (rune, bool) {
	if len(escape) < len(`uD83D`) || escape[0] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(escape[1:5], 16, 16)
	return rune(value), err == nil && utf16.IsSurrogate(rune(value))
}
