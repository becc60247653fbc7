package limits

import (
	"strings"
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

// FuzzScan compares the measures of a text with the document that the parser makes of it. There are
// as many open brackets as the document is deep, and no more names than tokens.
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
		doc, err := parser.ParseQuery(&ast.Source{Input: text})
		if err != nil {
			return
		}
		if deep := bracketsOf(doc); s.nesting != deep {
			t.Errorf("%d brackets inside each other, the document has %d", s.nesting, deep)
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

// bracketsOf counts the nested brackets of a document by its structure.
func bracketsOf(doc *ast.QueryDocument) int {
	deepest := 0
	for _, operation := range doc.Operations {
		deepest = max(deepest, ofDefinitions(operation.VariableDefinitions), ofDirectives(operation.Directives), ofSelection(operation.SelectionSet))
	}
	for _, fragment := range doc.Fragments {
		deepest = max(deepest, ofDefinitions(fragment.VariableDefinition), ofDirectives(fragment.Directives), ofSelection(fragment.SelectionSet))
	}
	return deepest
}

func ofDefinitions(definitions ast.VariableDefinitionList) int {
	deepest := 0
	for _, definition := range definitions {
		deepest = max(deepest, 1, 1+strings.Count(definition.Type.String(), "["), 1+ofValue(definition.DefaultValue), 1+ofDirectives(definition.Directives))
	}
	return deepest
}

func ofSelection(set ast.SelectionSet) int {
	deepest := 0
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			deepest = max(deepest, 1, 1+ofArguments(s.Arguments), 1+ofDirectives(s.Directives), 1+ofSelection(s.SelectionSet))
		case *ast.InlineFragment:
			deepest = max(deepest, 1, 1+ofDirectives(s.Directives), 1+ofSelection(s.SelectionSet))
		case *ast.FragmentSpread:
			deepest = max(deepest, 1, 1+ofDirectives(s.Directives))
		}
	}
	return deepest
}

func ofDirectives(directives ast.DirectiveList) int {
	deepest := 0
	for _, directive := range directives {
		deepest = max(deepest, ofArguments(directive.Arguments))
	}
	return deepest
}

func ofArguments(arguments ast.ArgumentList) int {
	deepest := 0
	for _, argument := range arguments {
		deepest = max(deepest, 1+ofValue(argument.Value))
	}
	return deepest
}

func ofValue(value *ast.Value) int {
	if value == nil || (value.Kind != ast.ListValue && value.Kind != ast.ObjectValue) {
		return 0
	}
	deepest := 1
	for _, child := range value.Children {
		deepest = max(deepest, 1+ofValue(child.Value))
	}
	return deepest
}
