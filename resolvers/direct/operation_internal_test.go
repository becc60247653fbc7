package direct

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"

	"github.com/talkback/talkback/graph"
)

// Only operations without conditions that need one page of comments, and no other resolver but those
// of statistics, are compiled.
func TestWhatIsCompiled(t *testing.T) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for _, row := range []struct {
		why, query string
		want       bool
	}{
		{"a page", `{ product(id: "p") { comments { nodes { id } } } }`, true},
		{"a page with what is known of its product", `{ __typename mine: product(id: "p") { key: id page: comments { edges { cursor } pageInfo { endCursor } } __typename } }`, true},
		{"a page in fragments", `{ ... on Query { product(id: "p") { ...P ...P } } } fragment P on Product { comments { nodes { id } } }`, true},
		{"a page with arguments", `query($n: Int, $f: CommentFilter) { product(id: "p") { comments(first: $n, filter: $f) { nodes { id } } } }`, true},
		{"a condition", `query($yes: Boolean!) { product(id: "p") { comments { nodes { id @include(if: $yes) } } } }`, false},
		{"a condition of a fragment", `query($yes: Boolean!) { product(id: "p") { comments { ... @skip(if: $yes) { nodes { id } } } } }`, false},
		{"a condition inside a fragment", `query($yes: Boolean!) { product(id: "p") { ...P } } fragment P on Product { comments { nodes { id @skip(if: $yes) } } }`, false},
		{"two pages", `{ product(id: "p") { a: comments { nodes { id } } b: comments { nodes { id } } } }`, false},
		{"two products", `{ a: product(id: "p") { comments { nodes { id } } } b: product(id: "q") { comments { nodes { id } } } }`, false},
		{"statistics beside the page", `{ product(id: "p") { stats { total } comments { nodes { id } } } }`, true},
		{"statistics of languages", `query($l: Language) { product(id: "p") { de: stats(lang: "de") { total } stats(lang: $l) { average } comments { nodes { id } } } }`, true},
		{"counts of the list", `{ product(id: "p") { comments { totalCount all: totalCount stats { ratings { count } } nodes { id } } } }`, true},
		{"numbers of pages", `{ product(id: "p") { comments { pageCount nodes { id } } } }`, false},
		{"statistics without a page", `{ product(id: "p") { stats { total } } }`, false},
		{"languages", `{ product(id: "p") { languages { count } comments { nodes { id } } } }`, false},
		{"no page", `{ product(id: "p") { id } }`, false},
		{"another root field", `{ viewer { mayWrite } product(id: "p") { comments { nodes { id } } } }`, false},
		{"the schema", `{ __schema { queryType { name } } product(id: "p") { comments { nodes { id } } } }`, false},
		{"a mutation", `mutation { deleteComment(input: {id: "c"}) { userErrors { code } } }`, false},
	} {
		document, errs := gqlparser.LoadQueryWithRules(schema, row.query, nil)
		if len(errs) > 0 {
			t.Fatalf("%s: %v", row.why, errs)
		}
		if got := compile(&graphql.OperationContext{Doc: document, Operation: document.Operations[0]}) != nil; got != row.want {
			t.Errorf("%s is compiled: %v, want %v", row.why, got, row.want)
		}
	}
}
