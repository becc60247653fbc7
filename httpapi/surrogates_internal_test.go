package httpapi

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
	"pgregory.net/rapid"
)

// tokens returns the tokens of a text. An error ends them, as a token at its position.
func tokens(text string) (all []lexer.Token) {
	reader := lexer.New(&ast.Source{Input: text})
	for {
		token, err := reader.ReadToken()
		all = append(all, token)
		if err != nil || token.Kind == lexer.EOF {
			return all
		}
	}
}

// A query with half of a pair in a string is refused. In others, the parser's lexer joins all
// pairs.
func TestWholePairs(t *testing.T) {
	pieces := []string{`"`, `"""`, `\`, `\\`, `\"`, `\n`, `\u`, `\u{`, `\u00e9`, `\uD83D`, `\uDE00`, `\uD83D\uDE00`, `\ud83d\ude00`, "é", "😀", "#", "\n", "\r", " ", "a", "{", "}", `"\uD83D\uDE00"`, `"\uD83D\uDE00\x"`, `"""\uD83D"""`, `"\u00`}
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "query"), "")
		whole := wholePairs(query)
		for _, token := range tokens(query) {
			if whole && strings.Contains(token.Value, "\uFFFD") {
				t.Errorf("%q passes, and has the token %q", query, token.Value)
			}
		}
	})
	for query, want := range map[string]bool{
		`{f(a:"\uD83D")}`: false, `{f(a:"\uDE00")}`: false, `{f(a:"\uDE00\uD83D")}`: false, `{f(a:"\uD83D\u0041")}`: false, `{f(a:"\uD83Dx")}`: false, `{f(a:"\uD83DuDE00")}`: false,
		`{f(a:"\\uD83D")}`: true, `{f(a:"""\uD83D""")}`: true, "{f #\\uD83D\n}": true, `{f(a:"\uFFFD")}`: true, `{f(a:"\uD83D\uDE00")}`: true,
	} {
		if got := wholePairs(query); got != want {
			t.Errorf("%s: %t, want %t", query, got, want)
		}
	}
}
