package direct_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/resolvers/direct"
)

// echo lists comments whose text is the query that they are the answer to.
type echo struct{ table }

func (e echo) Comments(ctx context.Context, q comment.Query) (comment.Page, error) {
	switch q.Product {
	case "broken":
		return comment.Page{}, errors.New("broken")
	case "panics":
		panic("no comments")
	}
	page, err := e.table.Comments(ctx, q)
	asked, _ := json.Marshal(q)
	page.Comments[0].Text = string(asked)
	return page, err
}

// An operation that is compiled is answered as gqlgen answers it: the same bytes, the same errors,
// and the table is asked the same.
func TestCompiledSameBytes(t *testing.T) {
	r := commenttest.Rand(t)
	e := echo{table{commenttest.Nasty(r, "pan"), commenttest.Random(r, "pan")}}
	root := &resolvers.Resolver{Comments: e, Leaders: e, Author: e.sender()}
	compiled, plain := direct.NewSchema(root), graph.NewExecutableSchema(graph.Config{Resolvers: root})
	oneOf := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	run := func(schema graphql.ExecutableSchema, around graphql.FieldMiddleware, query string) string {
		response := run(t, e.table, schema, around, &graphql.RawParams{Query: query, Variables: map[string]any{
			"first": 3, "filter": map[string]any{"languages": []any{"EN-us"}, "createdAfter": "2024-05-01T12:00:00+02:00"}, "none": nil, "yes": true, "lang": "DE",
		}})
		slices.SortFunc(response.Errors, func(a, b *gqlerror.Error) int { return strings.Compare(a.Error(), b.Error()) }) // of fields side by side
		out, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for range 400 {
		a := asker{r: r, schema: plain.Schema(), plain: r.IntN(4) > 0}
		comments := func() string {
			return "comments" + oneOf("", `(first: $first)`, `(filter: $filter)`, `(filter: $nothing, first: $none)`, `(last: 2, before: $before)`,
				`(first: 101)`, `(first: -1)`, `(first: 1, last: 1)`, `(after: "x")`, `(page: 2)`, `(page: 0)`, `(settledOnly: $yes)`, `(order: OLDEST_FIRST)`,
				`(filter: {ratings: 5, languages: "de"})`, `(filter: {ratings: [1, 5, 5]})`, `(filter: {ratings: [6]})`, `(filter: {})`,
				`(filter: {languages: ["?"]})`, `(filter: {createdBefore: "yesterday"})`, `(filter: {languages: null, createdAfter: null})`) +
				a.selection("CommentConnection", 3)
		}
		stats := func(name string) string {
			return name + ": stats" + oneOf("", "", `(lang: "en")`, `(lang: "fr")`, `(lang: $lang)`, `(lang: $unset)`, `(lang: "?")`) + a.selection("CommentStats", 2)
		}
		query := `query($first: Int, $filter: CommentFilter, $none: Int, $nothing: CommentFilter, $before: String, $yes: Boolean!, $no: Boolean! = false, $lang: Language, $unset: Language) {` +
			oneOf("", "__typename ", "name: __typename ") + oneOf("", "mine: ") +
			`product(id: ` + oneOf(`"pan"`, `"pan"`, `"pan"`, `"babel"`, `"uncounted"`, `"broken"`, `"panics"`, `""`, `7`) + `) {` +
			oneOf("", "id ", "... on Node { id }", "key: id __typename ") + oneOf("", "", stats("before")) + oneOf("", "all: ") + comments() + oneOf("", "", stats("after")) +
			oneOf("", "", "", "... { id }", "more: "+comments()) + "}" +
			oneOf("", "", "", "", `other: product(id: "pot") { id }`) + "}"
		if diff := cmp.Diff(run(plain, resolved, query), run(compiled, direct.Fields, query)); diff != "" {
			t.Fatalf("%s\nis answered differently:\n%s", query, diff)
		}
	}
}
