package lookahead

import (
	"reflect"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// An argument is what the parser's map of arguments has: given, by a variable or not, or the schema's
// own value.
func TestArgumentIsThatOfTheMap(t *testing.T) {
	defaults := 0
	for _, row := range []struct{ declared, arguments string }{
		{``, `order: OLDEST_FIRST`},
		{``, `first: 3, filter: {ratings: [4, 5]}, last: null`},
		{`, $n: Int, $f: CommentFilter`, `first: $n, filter: $f`},
		{`, $o: CommentOrder, $r: [Int!]`, `order: $o, filter: {ratings: $r}`},
	} {
		document, refused := gqlparser.LoadQueryWithRules(schema,
			`query($id: ID!`+row.declared+`) { product(id: $id) { comments(`+row.arguments+`) { nodes { id } } } }`, nil)
		if len(refused) > 0 {
			t.Fatal(refused)
		}
		product := document.Operations[0].SelectionSet[0].(*ast.Field)
		field := product.SelectionSet[0].(*ast.Field)
		for _, variables := range []map[string]any{
			nil, {"n": int64(7), "f": nil, "r": []any{4}}, {"f": map[string]any{"languages": []any{"en"}}, "o": "OLDEST_FIRST"},
		} {
			values := field.ArgumentMap(variables)
			for _, defined := range field.Definition.Arguments {
				if got := (arguments{field, variables}).named(defined.Name); !reflect.DeepEqual(got, values[defined.Name]) {
					t.Errorf("%s with %v: %s is %v, want %v", row.arguments, variables, defined.Name, got, values[defined.Name])
				}
				if defined.DefaultValue != nil {
					defaults++
				}
			}
		}
	}
	if defaults == 0 {
		t.Error("no argument has a value of the schema's own")
	}
}
