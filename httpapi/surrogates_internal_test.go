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

// Joining pairs changes only strings that have pairs. The parser's lexer, which replaces each half
// by U+FFFD, finds the same tokens at the same positions before and after. A query with half a pair
// is refused.
func TestJoinPairs(t *testing.T) {
	pieces := []string{`"`, `"""`, `\`, `\\`, `\"`, `\n`, `\u`, `\u00e9`, `\uD83D\uDE00`, `\ud83d\ude00`, "é", "😀", "#", "\n", "\r", " ", "a", "{", "}", `"\uD83D\uDE00"`, `"\uD83D\uDE00\x"`, `"""\uD83D"""`, `"\u00`}
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "query"), "")
		joined, ok := joinPairs(query)
		if !ok {
			t.Skip("a half in a string: it was drawn apart")
		}
		before, after := tokens(query), tokens(joined)
		if len(before) != len(after) {
			t.Fatalf("%q has %d tokens, and %q %d", query, len(before), joined, len(after))
		}
		for i := range before {
			want := before[i].Value
			if before[i].Kind == lexer.String {
				want = strings.ReplaceAll(want, "\uFFFD\uFFFD", "😀")
			}
			if was, is := before[i].Pos, after[i].Pos; was.Line != is.Line || was.Column != is.Column {
				t.Errorf("%q: token %d stands at %d:%d, and in %q at %d:%d", query, i, was.Line, was.Column, joined, is.Line, is.Column)
			}
			if before[i].Kind != after[i].Kind || want != after[i].Value {
				t.Errorf("%q: %q becomes %q in %q", query, before[i].Value, after[i].Value, joined)
			}
		}
	})
	for query, want := range map[string]bool{
		`{f(a:"\uD83D")}`: false, `{f(a:"\uDE00")}`: false, `{f(a:"\uDE00\uD83D")}`: false, `{f(a:"\uD83D\u0041")}`: false, `{f(a:"\uD83Dx")}`: false, `{f(a:"\uD83DuDE00")}`: false,
		`{f(a:"\\uD83D")}`: true, `{f(a:"""\uD83D""")}`: true, "{f #\\uD83D\n}": true, `{f(a:"\uFFFD")}`: true,
	} {
		if _, ok := joinPairs(query); ok != want {
			t.Errorf("%s: %t, want %t", query, ok, want)
		}
	}
}
