package limits

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

func TestScan(t *testing.T) {
	for _, row := range []struct {
		why, text string
		want      size
	}{
		{"nothing", ``, size{}},
		{"fields", `{ab {c}}`, size{tokens: 6, nesting: 2, name: 2}},
		{"brackets beside each other", `{a(b:[1]) c(d:{e:1})}`, size{tokens: 20, nesting: 3, name: 1}},
		{"brackets in a string", `{a(b:"{[(")}`, size{tokens: 8, nesting: 2, name: 1}},
		{"an escaped quote", `{a(b:"\"{[(")}`, size{tokens: 8, nesting: 2, name: 1}},
		{"brackets in a block string", `{a(b:"""{[("x" \"""{ """)}`, size{tokens: 8, nesting: 2, name: 1}},
		{"brackets in a comment", "{a #{{{\n}", size{tokens: 4, nesting: 1, name: 1}},
		{"a string without end hides what follows", `{a(b:"{{{`, size{tokens: 5, nesting: 2, name: 1}},
		{"brackets closed first", `}}}{{`, size{tokens: 5, nesting: 0}},
	} {
		if got := scan(row.text); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.why, got, row.want)
		}
	}
}

// FuzzScan compares the number of tokens of a text with the parser's own.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		`{a}`, `query Q($a:[[Int!]]={b:[1]}@c){d(e:$a)@f(g:{h:[]}){...on I{j}...K}}fragment K on L{m}`,
		"{a(b:\"\"\"{\\\"\"\"{\"\"\")#{{\n}", `{a(b:"\"{")}`, "\ufeff{a,,,b}", `{(}`, `}{`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			return // the parser itself has no bound here
		}
		s := scan(text)
		if _, err := parser.ParseQuery(&ast.Source{Input: text}); err != nil {
			return
		}
		if _, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, max(1, s.tokens)); err != nil {
			t.Errorf("%d tokens, the parser counts more: %v", s.tokens, err)
		}
		if s.tokens > 1 {
			if _, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, s.tokens-1); err == nil {
				t.Errorf("%d tokens, the parser counts fewer", s.tokens)
			}
		}
	})
}
