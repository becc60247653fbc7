package httpapi

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

var (
	// marked matches comments, block strings and strings. As in the parser, the last three of several
	// quotes close a block string. What is not closed goes on to the end.
	marked = regexp.MustCompile(`#[^\r\n]*|"""(?s:\\"""|.)*?(?:""""*|\z)|"(?:\\[^\r\n]|[^"\\\r\n])*"?`)
	// escapes matches escapes in a string: a surrogate pair, half of one, or another.
	escapes = regexp.MustCompile(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|\\u[dD][89a-fA-F][[:xdigit:]]{2}|\\.`)
)

const (
	halfLength = len(`\uD83D`)
	pairLength = 2 * halfLength
)

// joinPairs replaces each surrogate pair such as \uD83D\uDE00 in the strings of a query by the
// character that it stands for: gqlparser would make U+FFFD of each half. It reports false if there
// is half of a pair. Comments and block strings have no such escapes.
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

// joinString does so for a string. Spaces behind the string make up for its lost length, so that
// errors name the columns of what was sent. A string that the parser refuses stays as it is: the
// error is then inside, where spaces would change its column.
func joinString(sent string) (joined string, ok bool) {
	pairs, ok := 0, true
	joined = escapes.ReplaceAllStringFunc(sent, func(escape string) string {
		switch len(escape) {
		case pairLength:
			pairs++
			return string(utf16.DecodeRune(unit(escape[:halfLength]), unit(escape[halfLength:])))
		case halfLength:
			ok = false
		}
		return escape
	})
	reader := lexer.New(&ast.Source{Input: sent})
	if _, err := reader.ReadToken(); err != nil {
		return sent, ok
	}
	return joined + strings.Repeat(" ", pairs*(pairLength-1)), ok
}

// unit returns the UTF-16 unit of an escape such as \uD83D.
func unit(escape string) rune {
	value, err := strconv.ParseUint(escape[len(`\u`):], 16, 16)
	if err != nil {
		panic(err) // the expression matches digits alone
	}
	return rune(value)
}
