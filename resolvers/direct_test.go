package resolvers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/resolvers"
)

// table answers from a few comments with awkward texts. The statistics of the products "broken" and
// "uncounted" fail; those of "babel" have a row that languages share.
type table []comment.Comment

func (t table) Comments(context.Context, comment.Query) (comment.Page, error) {
	return comment.Page{Comments: append([]comment.Comment(nil), t...), HasNext: true}, nil
}

func (t table) OwnComments(context.Context, comment.OwnQuery) (comment.OwnPage, error) {
	return comment.OwnPage{Comments: append([]comment.Comment(nil), t...), HasNext: true}, nil
}

func (t table) OwnOfProducts(_ context.Context, keys []comment.CustomerProduct) (map[comment.CustomerProduct]comment.Comment, error) {
	found := map[comment.CustomerProduct]comment.Comment{}
	for _, key := range keys {
		for _, c := range t {
			if c.ProductID == key.Product {
				found[key] = c
			}
		}
	}
	return found, nil
}

func (t table) Leaders(context.Context, comment.Language, int) ([]comment.Leader, error) {
	return []comment.Leader{{Rank: 1, Product: "pan", Count: 3}, {Rank: 2, Product: "broken", Count: 2}}, nil
}

func (t table) CommentsByID(_ context.Context, ids []comment.ID, _ bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	found := map[comment.ID]comment.Comment{}
	for _, id := range ids {
		for _, c := range t {
			if c.ID == id {
				found[id] = c
			}
		}
	}
	return found, nil, nil
}

func (t table) StatsOf(_ context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	found, failed := map[string]comment.Stats{}, map[string]error{}
	for _, product := range products {
		switch product {
		case "pan":
			found[product] = comment.Stats{"en": {Counts: comment.Counts{1, 0, 3, 0, 9}}, "de": {Counts: comment.Counts{0, 2, 0, 0, 1}}, "edited\x01\"": {Counts: comment.Counts{0, 0, 0, 0, 1}}}
		case "babel":
			found[product] = comment.Stats{"de": {Counts: comment.Counts{1, 0, 0, 0, 2}}, comment.OtherLanguages: {Counts: comment.Counts{9, 0, 1, 0, 7}}}
		case "broken", "uncounted":
			failed[product] = errors.New("broken")
		}
	}
	return found, failed, nil
}

func (table) RowsOf(context.Context, []comment.ProductLanguage) (map[comment.ProductLanguage]comment.Row, map[comment.ProductLanguage]error, error) {
	return map[comment.ProductLanguage]comment.Row{{Product: "babel", Language: "fr"}: {Counts: comment.Counts{3, 0, 0, 0, 4}}}, nil, nil
}

// sender is known, and writes nothing.
type sender struct {
	resolvers.Service
	viewer comment.Viewer
}

func (s sender) Viewer(context.Context) comment.Viewer { return s.viewer }

// sender is a customer with an awkward id, or a caller that is refused, whatever its roles.
func (t table) sender() sender {
	if len(t)%4 == 0 {
		customer := "\"<ü\u2028"
		return sender{viewer: comment.Viewer{CustomerID: &customer}}
	}
	reason := comment.TokenRefused
	return sender{viewer: comment.Viewer{Roles: comment.Roles(len(t) % 8), Open: len(t)%3 == 0, CannotWriteReason: &reason}}
}

// answer runs an operation as the server does, with a middleware around each field.
func (t table) answer(tb testing.TB, around graphql.FieldMiddleware, query string) (data string, errs []string) {
	tb.Helper()
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: &resolvers.Resolver{Comments: t, Service: t.sender(), MediaBase: mediaBase}})
	response := run(tb, t, schema, around, &graphql.RawParams{Query: query, Variables: map[string]any{"yes": true, "no": false}})
	for _, err := range response.Errors {
		errs = append(errs, err.Path.String()+": "+err.Message)
	}
	return string(response.Data), errs
}

// run runs an operation of a schema.
func run(tb testing.TB, t table, schema graphql.ExecutableSchema, around graphql.FieldMiddleware, params *graphql.RawParams) *graphql.Response {
	tb.Helper()
	exec := executor.New(schema)
	exec.AroundFields(around)
	exec.SetDefaultRulesFn(func() *rules.Rules {
		all := rules.NewDefaultRules()
		all.RemoveRule(rules.NoUnusedVariablesRule.Name)
		return all
	})
	exec.SetRecoverFunc(func(_ context.Context, cause any) error { return fmt.Errorf("panic: %v", cause) })
	ctx := graphql.StartOperationTrace(loaders.With(tb.Context(), loaders.Options{
		Comments: t.CommentsByID, Stats: t.StatsOf, Rows: t.RowsOf, Own: t.OwnOfProducts,
		Freshness: func(context.Context) (time.Time, bool) { return time.Unix(1794729702, 123e6), true },
	}))
	operation, refused := exec.CreateOperationContext(ctx, params)
	if len(refused) > 0 {
		tb.Fatalf("%s\nis refused: %v", params.Query, refused)
	}
	lookahead.NewReader(schema.Schema()).Read(operation)
	next, ctx := exec.DispatchOperation(ctx, operation)
	return next(ctx)
}

// mediaBase is the prefix of the addresses of media.
const mediaBase = "https://media.example/"

// direct is the middleware that writes lists.
var direct = (&resolvers.Resolver{MediaBase: mediaBase}).Fields()

func resolved(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

// Every operation gets the same answer, byte for byte, as gqlgen gives without the middleware.
func TestSameBytes(t *testing.T) {
	r := commenttest.Rand(t)
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for range commenttest.Times(15, 300) {
		var comments table
		for range 1 + r.IntN(4) {
			comments = append(comments, commenttest.Nasty(r, "pan"), commenttest.Random(r, "broken"))
		}
		ids := fmt.Sprintf(`["pan", "broken", "nothing", "%s"]`, comments[0].ID)
		a := asker{r: r, schema: schema}
		query := "query($yes: Boolean!, $no: Boolean!) { yes: __typename @include(if: $yes) no: __typename @skip(if: $no)\n" +
			`product(id: "pan") ` + a.selection("Product", 4) +
			` products(ids: ["pan", "broken", "nothing", "c_no"]) ` + a.selection("Product", 3) +
			` whole: products(ids: ["pan", "nothing"]) ` + a.selection("Product", 3) +
			` rated: products(ids: ["pan", "nothing"]) { languages ` + a.selection("LanguageCount", 1) + ` stats ` + a.selection("CommentStats", 2) + `}` +
			` babel: products(ids: ["pan", "babel"]) { id stats ` + a.selection("CommentStats", 2) +
			` french: stats(lang: "fr") ` + a.selection("CommentStats", 2) + ` languages ` + a.selection("LanguageCount", 1) + `}` +
			` wrong: products(ids: ["pan"]) { id stats(lang: "no language") { total } }` +
			fmt.Sprintf(` comment(id: "%s") `, comments[0].ID) + a.selection("Comment", 3) +
			fmt.Sprintf(` node(id: "%s") `, comments[0].ID) + a.selection("Node", 3) +
			` nodes(ids: ` + ids + `) ` + a.selection("Node", 3) +
			` leaderboard ` + a.selection("LeaderboardEntry", 3) +
			` viewer ` + a.selection("Viewer", 3) + "}"
		want, wantErrs := comments.answer(t, resolved, query)
		got, gotErrs := comments.answer(t, direct, query)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\nis answered differently:\n%s", query, diff)
		}
		if diff := cmp.Diff(counts(wantErrs), counts(gotErrs)); diff != "" {
			t.Fatalf("%s\nhas other errors:\n%s", query, diff)
		}
	}
}

func counts(texts []string) map[string]int {
	out := map[string]int{}
	for _, text := range texts {
		out[text]++
	}
	return out
}

// asker generates operations.
type asker struct {
	r      *rand.Rand
	schema *ast.Schema
	plain  bool // whether to omit conditions and fields that have to be resolved, other than statistics
	names  int
}

// unplain are fields that have to be resolved, statistics apart.
var unplain = []string{"product", "pageCount", "pageNumber", "pageCursors"}

// arguments are the fields' arguments that change the answer.
var arguments = map[string][]string{
	"Product.stats":    {"", `(lang: "en")`, `(lang: "fr")`},
	"Product.comments": {"", "(first: 3)"},
}

// selection returns some of the fields of a type, each perhaps twice, under another name, in a
// fragment or with a condition.
func (a *asker) selection(typeName string, depth int) string {
	var b strings.Builder
	b.WriteString("{ __typename ")
	definition := a.schema.Types[typeName]
	for _, field := range definition.Fields {
		if strings.HasPrefix(field.Name, "__") || a.r.IntN(3) == 0 || field.Name == "plan" || a.plain && slices.Contains(unplain, field.Name) {
			continue
		}
		for range 1 + a.r.IntN(2) {
			b.WriteString(a.wrapped(definition, field.Name, a.field(definition, field, depth)))
		}
	}
	for _, possible := range a.schema.PossibleTypes[typeName] {
		if definition.Kind == ast.Interface {
			b.WriteString("... on " + possible.Name + " " + a.selection(possible.Name, depth-1) + " ")
		}
	}
	return b.String() + "}"
}

func (a *asker) field(of *ast.Definition, field *ast.FieldDefinition, depth int) string {
	text := field.Name
	if choices := arguments[of.Name+"."+field.Name]; choices != nil || a.r.IntN(2) == 0 {
		a.names++
		text = fmt.Sprintf("f%d: %s", a.names, field.Name)
		if choices != nil {
			text += choices[a.r.IntN(len(choices))]
		}
	}
	if a.r.IntN(5) == 0 && !a.plain {
		text += []string{" @skip(if: $yes)", " @skip(if: $no)", " @include(if: $yes)", " @include(if: $no)"}[a.r.IntN(4)]
	}
	if inner := a.schema.Types[field.Type.Name()]; inner.Kind == ast.Object {
		if depth == 0 {
			return "__typename "
		}
		text += " " + a.selection(inner.Name, depth-1)
	}
	return text + " "
}

// wrapped returns a field as it is or in a fragment: on the type itself, without a type, or on an
// interface that has the field.
func (a *asker) wrapped(of *ast.Definition, name, asked string) string {
	switch a.r.IntN(7) {
	case 3: // on another type, so it never applies
		if len(of.Interfaces) > 0 && name == "id" {
			return asked + "... on Node { ... on " + map[string]string{"Product": "Comment", "Comment": "Product"}[of.Name] + " { never: id } } "
		}
	case 0:
		return "... { " + asked + "} "
	case 1:
		return "... on " + of.Name + " { " + asked + "} "
	case 2:
		if len(of.Interfaces) > 0 && name == "id" {
			return "... on " + of.Interfaces[0] + " { " + asked + "} "
		}
	}
	return asked
}

// The fields of a shop's page are written directly. Their announced size counts the texts and is
// never larger than the output, since the limit of an answer relies on it.
func TestWhatIsWritten(t *testing.T) {
	comments := table{commenttest.Nasty(commenttest.Rand(t), "pan")}
	const all = "{ id rating language title text author { id customerId name } createdAt updatedAt version isVerifiedPurchase media { url kind width height alt } }"
	query := `query($yes: Boolean!, $no: Boolean!) {
		product(id: "pan") {
			whole: comments { edges { node { id product { id } } } nodes { id } }
			comments { totalCount edges { cursor node ` + all + ` } nodes ` + all + ` pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
		}
		products(ids: ["pan", "nothing"]) { id stats(lang: "en") { total average ratings { rating count } } languages { language count } }
		again: products(ids: ["pan", "broken"]) { id stats { total } }
		yes: __typename @include(if: $yes) no: __typename @skip(if: $no)
	}`
	var mu sync.Mutex
	var written []string
	comments.answer(t, func(ctx context.Context, next graphql.Resolver) (any, error) {
		result, err := direct(ctx, next)
		if value, ok := result.(resolvers.DirectList); ok {
			var out bytes.Buffer
			value.MarshalGQL(&out)
			if value.Size() > out.Len() {
				t.Errorf("%d bytes were announced, %d came: %s", value.Size(), out.Len(), out.String())
			}
			path := graphql.GetPath(ctx).String()
			if texts := len(comments[0].Text + comments[0].Author.Name); path == "product.comments.nodes" && value.Size() < texts {
				t.Errorf("%d bytes were announced, but the texts have %d", value.Size(), texts)
			}
			mu.Lock()
			written = append(written, path)
			mu.Unlock()
		}
		return result, err
	}, query)
	slices.Sort(written)
	want := []string{
		"product.comments.edges", "product.comments.nodes",
		"product.whole.nodes", // the products of the edges have to be resolved
		"products",            // of the others, statistics failed
	}
	check.Equal(t, want, written, "other fields are written directly")
}
