package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/httpapi/limits"
)

// The context of an operation that is known is the one that gqlgen would make, with the same
// variables, and it is refused for the same reasons.
func TestKnownOperationsAreLikeGqlgens(t *testing.T) {
	schema := &graphql.ExecutableSchemaMock{SchemaFunc: func() *ast.Schema { return operationsSchema }}
	made := newOperations(Options{Schema: schema, Limits: limits.Default()})
	ctx := graphql.StartOperationTrace(t.Context())
	input := map[string]any{"colors": []any{"RED", "BLUE"}, "when": json.Number("12"), "id": json.Number("5"), "more": []any{map[string]any{"colors": "RED"}}}
	good := map[string]any{
		"id": json.Number("7"), "n": json.Number("7.0"), "input": input, "when": json.Number("1e99"), "x": json.Number("7"),
		"list": []any{input, map[string]any{"n": nil}}, "colors": "RED", "yes": true,
	}
	odd := []any{nil, false, "a", "7", json.Number("1e99"), json.Number("0.5"), []any{}, []any{"a", nil}, map[string]any{}, map[string]any{"n": "x"}}
	queries := []string{
		`query A($id: ID!, $n: Int = 3, $input: In) { echo(id: $id, n: $n, in: $input) } query B($when: When, $x: Float) { b: echo(when: $when, x: $x) }`,
		`query A($list: [In!], $colors: [Color!] = [RED], $yes: Boolean = true) { echo(list: $list, colors: $colors) @include(if: $yes) }`,
		`{ __typename }`, `{ missing }`, `{`,
	}
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		query, name := rapid.SampledFrom(queries).Draw(t, "query"), rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "name")
		sent := map[string]any{}
		for _, variable := range slices.Sorted(maps.Keys(good)) {
			switch rapid.IntRange(0, 9).Draw(t, variable) {
			case 0:
				sent[variable] = rapid.SampledFrom(odd).Draw(t, "value")
			case 1, 2, 3, 4, 5, 6:
				sent[variable] = good[variable]
			}
		}
		params := func() *graphql.RawParams {
			return &graphql.RawParams{Query: query, OperationName: name, Variables: sent}
		}
		want, wantErrs := made.executor.CreateOperationContext(ctx, params())
		if made.known(ctx, params()) != nil {
			known++
		}
		got, gotErrs := made.newContext(ctx, params())
		if diff := cmp.Diff(told(t, want, wantErrs), told(t, got, gotErrs)); diff != "" {
			t.Fatalf("another context than gqlgen's (-gqlgen +made):\n%s", diff)
		}
		if len(wantErrs) == 0 && (got.Doc != want.Doc || got.Operation != want.Operation || got.ResolverMiddleware == nil || got.RootResolverMiddleware == nil || got.RecoverFunc == nil) {
			t.Fatal("the context lacks something")
		}
	})
	if known == 0 {
		t.Error("no operation was known")
	}
}

// told is what is compared of a context.
func told(t *rapid.T, operation *graphql.OperationContext, errs gqlerror.List) map[string]any {
	texts, err := json.Marshal(errs)
	if err != nil {
		t.Fatal(err)
	}
	if len(errs) > 0 {
		return map[string]any{"errors": string(texts)}
	}
	return map[string]any{
		"query": operation.RawQuery, "name": operation.OperationName, "variables": operation.Variables,
	}
}

var operationsSchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	scalar When
	enum Color { RED BLUE }
	input In { n: Int, id: ID = "x", colors: [Color!], when: When, more: [In] }
	type Query { echo(id: ID, n: Int, in: In, when: When, x: Float, list: [In!], colors: [Color!]): String }`})
