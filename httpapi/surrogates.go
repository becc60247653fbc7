package httpapi

import (
	"regexp"
	"strings"
)

var (
	// marked matches comments, block strings and strings. As in the parser, the last three of several
	// quotes close a block string. An unclosed one extends to the end.
	marked = regexp.MustCompile(`#[^\r\n]*|"""(?s:\\"""|.)*?(?:""""*|\z)|"(?:\\[^\r\n]|[^"\\\r\n])*"?`)
	// paired matches escapes of two halves of a surrogate pair, and those of a single letter, which
	// may be a backslash.
	paired = regexp.MustCompile(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|\\[^u]`)
	half   = regexp.MustCompile(`\\u[dD][89a-fA-F][[:xdigit:]]{2}`)
)

// wholePairs reports whether no string of a query has half of a surrogate pair, such as \uD83D
// alone, which gqlparser would turn into U+FFFD. Comments and block strings have no such escapes.
func wholePairs(query string) bool {
	if !strings.Contains(query, `\u`) {
		return true
	}
	for _, part := range marked.FindAllString(query, -1) {
		if part[0] != '#' && !strings.HasPrefix(part, `"""`) && half.MatchString(paired.ReplaceAllString(part, " ")) {
			return false
		}
	}
	return true
}
