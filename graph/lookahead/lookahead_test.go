package lookahead

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

var schema = graph.NewExecutableSchema(graph.Config{}).Schema()

// read reads an operation with its variables.
func read(t *testing.T, query string, variables map[string]any) *Operation {
	t.Helper()
	document, errs := gqlparser.LoadQueryWithRules(schema, query, nil)
	if errs != nil {
		t.Fatalf("%s: %v", query, errs)
	}
	return NewReader(schema).Read(&graphql.OperationContext{Doc: document, Operation: document.Operations[0], Variables: variables})
}

// free are the fields with a resolver of their own that read nothing.
var free = []string{"Query.product", "Query.viewer", "Query.moderation"}

// A field that reads and has no kind would cost nothing in the limits, and a list of objects
// without a kind counts as a hundred elements.
func TestEveryReadAndListHasAKind(t *testing.T) {
	resolved := map[string]reflect.Type{}
	root := reflect.TypeFor[graph.ResolverRoot]()
	for i := range root.NumMethod() {
		resolved[root.Method(i).Name] = root.Method(i).Type.Out(0)
	}
	for _, definition := range schema.Types {
		if definition.Name == "Entity" { // what gqlgen makes code of, and no client sees
			continue
		}
		if definition.Kind == ast.InputObject || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		for _, field := range definition.Fields {
			name := definition.Name + "." + field.Name
			list := field.Type.Elem != nil && schema.Types[field.Type.Name()].IsCompositeType()
			_, known := kinds[definition.Name][field.Name]
			if (list || hasResolver(resolved[definition.Name], field.Name)) && !known &&
				!strings.HasPrefix(field.Name, "__") && !slices.Contains(free, name) {
				t.Errorf("%s reads, or is a list of objects, and has no kind", name)
			}
		}
	}
	for name, fields := range kinds {
		for field := range fields {
			if definition := schema.Types[name]; definition == nil || definition.Fields.ForName(field) == nil {
				t.Errorf("%s.%s has a kind, and does not exist", name, field)
			}
		}
	}
}

func hasResolver(resolver reflect.Type, field string) bool {
	if resolver == nil {
		return false
	}
	_, found := resolver.MethodByName(strings.ToUpper(field[:1]) + field[1:])
	return found
}

// An argument that decides how much is read must not be overlooked: each one of a field with a kind
// is listed here, either as read or with the reason why it does not matter.
func TestEveryArgumentIsRead(t *testing.T) {
	known := map[string]string{
		"Query.comment(id)": "read", "Query.node(id)": "read", "Query.nodes(ids)": "read", "Query.products(ids)": "read", "Query._entities(representations)": "read",
		"Query.leaderboard(first)": "read", "Query.leaderboard(language)": "each language has a leaderboard of its own",
		"Mutation.addComment(input)": "one comment", "Mutation.editComment(input)": "one comment", "Mutation.deleteComment(input)": "one comment",
		"Mutation.replyToComment(input)": "one comment", "Mutation.deleteReply(input)": "one comment", "Mutation.reportComment(input)": "one comment", "Mutation.voteOnComment(input)": "one comment",
		"Mutation.withdrawComment(input)": "one comment", "Mutation.approveComment(input)": "one comment", "Mutation.rejectComment(input)": "one comment",
		"Mutation.decideComments(input)": "read", "Mutation.eraseAuthor(input)": "one item; servers do the rest", "Moderation.erasure(customerId)": "one customer", "Moderation.queue(first)": "read", "Moderation.audit(commentId)": "one comment", "Moderation.reports(commentId)": "one comment", "Moderation.commentsBy(customerId)": "the latest of one customer",
		"Moderation.queue(after)": "a page costs the same wherever it begins", "Moderation.queue(filter)": "places that are passed over cost little",
		"Product.comments(filter)": "read", "Product.comments(first)": "read", "Product.comments(last)": "read",
		"Product.comments(order)": "read", "Product.comments(after)": "read", "Product.comments(before)": "read",
		"Product.comments(settledOnly)": "read", "Product.comments(page)": "read", "Product.stats(lang)": "read", "Product.languages(filter)": "all are read, whatever is counted",
		"Product.mostHelpfulPositive(orLatest)": "read", "Product.mostHelpfulCritical(orLatest)": "read",
		"CommentConnection.pageCursors(around)": "read",
		"Subscription.commentEvents(productId)": "an event is read once, whatever it is about", "Subscription.commentEvents(filter)": "it is applied to what was read",
		"Subscription.stats(productId)": "one product",
		"Viewer.comments(first)":        "read", "Viewer.comments(status)": "read", "Viewer.comments(after)": "a page costs as much anywhere",
	}
	var found []string
	for name, fields := range kinds {
		for field := range fields {
			for _, argument := range schema.Types[name].Fields.ForName(field).Arguments {
				found = append(found, fmt.Sprintf("%s.%s(%s)", name, field, argument.Name))
			}
		}
	}
	for _, argument := range found {
		if known[argument] == "" {
			t.Errorf("%s is not read: read it, or say here why it does not matter", argument)
		}
	}
	if len(found) != len(known) {
		t.Errorf("%d arguments are known, and the schema has %d", len(known), len(found))
	}
	if around := schema.Types["CommentConnection"].Fields.ForName("pageCursors").Arguments.ForName("around").DefaultValue.Raw; around != fmt.Sprint(comment.DefaultAround) {
		t.Errorf("the schema's default is %s pages around, the service's %d", around, comment.DefaultAround)
	}
	if first := schema.Types["Query"].Fields.ForName("leaderboard").Arguments.ForName("first").DefaultValue.Raw; first != fmt.Sprint(comment.DefaultLeaders) {
		t.Errorf("the schema's default is %s leaders, the service's %d", first, comment.DefaultLeaders)
	}
}

// comments returns what is asked of the field comments of a product.
func comments(t *testing.T, arguments, selection string, variables map[string]any) *Field {
	t.Helper()
	query := fmt.Sprintf(`query($n: Int, $f: CommentFilter, $yes: Boolean!) {
		product(id: "p") { comments%s { %s } used: comments(first: $n, filter: $f) @skip(if: $yes) { __typename } }
	}`, arguments, selection)
	return &read(t, query, variables).Fields[0].Fields[0]
}

func TestPage(t *testing.T) {
	const dates = `createdAfter: "2024-05-01T00:00:00Z"`
	moment := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	dated := comment.Filter{CreatedAfter: &moment}
	variables := map[string]any{"n": int64(7), "f": map[string]any{"ratings": []any{int64(4)}, "createdBefore": "2024-05-01T00:00:00Z"}, "yes": true}
	type page struct {
		Size, Number                     int
		FromEnd, ByCursor, Cursors, Plan bool
		Filter                           comment.Filter
		Order                            comment.Order
		Numbering                        comment.Numbering
		Count                            comment.Counting
		Refused                          comment.Kind
	}
	for _, row := range []struct {
		arguments, selection string
		want                 page
		statistics           bool
	}{
		{"", "__typename", page{Size: 20}, false},
		{"(first: 3)", "__typename", page{Size: 3}, false},
		{"", "edges { node { id } } pageInfo { hasNextPage }", page{Size: 20}, false},
		{"", "edges { ... { cursor } }", page{Size: 20, Cursors: true}, false},
		{"", "pageInfo { endCursor }", page{Size: 20, Cursors: true}, false},
		{"", "... { plan { summary } }", page{Size: 20, Plan: true}, false},
		{"", "pageInfo { startCursor @skip(if: $yes) }", page{Size: 20}, false},
		{"(last: 3)", "__typename", page{Size: 3, FromEnd: true}, false},
		{"(last: 0)", "pageNumber pageCount", page{FromEnd: true, Numbering: comment.Numbering{Count: true, Number: true}}, false},
		{"(first: 3, last: 4)", "__typename", page{Size: 4, FromEnd: true, Refused: comment.BadInput}, false},
		{"(first: null)", "__typename", page{Size: 20}, false},
		{"(first: -1)", "__typename", page{Size: -1}, false},
		{"(first: $n, filter: $f)", "totalCount", page{Size: 7, Filter: comment.Filter{Ratings: []int{4}, CreatedBefore: &moment}, Count: comment.CountTotal}, false},
		{`(filter: {languages: ["EN", "de", "en"], ratings: 5})`, "__typename", page{Size: 20, Filter: comment.Filter{Languages: []comment.Language{"de", "en"}, Ratings: []int{5}}}, false},
		{"(filter: {ratings: [9]})", "__typename", page{Size: 20, Refused: comment.BadInput}, false},
		{`(filter: {languages: ["?"], createdAfter: "2024-05-01T00:00:00Z"})`, "totalCount", page{Size: 20, Refused: comment.BadInput}, true},
		{"(order: OLDEST_FIRST)", "__typename", page{Size: 20, Order: comment.OldestFirst}, false},
		{"(filter: null)", "totalCount", page{Size: 20}, true},
		{"(filter: {createdAfter: null})", "stats { total }", page{Size: 20}, true},
		{"(filter: {" + dates + "})", "nodes { id }", page{Size: 20, Filter: dated}, false},
		{"(filter: {" + dates + "})", "totalCount", page{Size: 20, Filter: dated, Count: comment.CountTotal}, false},
		{"(filter: {" + dates + "})", "stats { total } totalCount", page{Size: 20, Filter: dated, Count: comment.CountByRating}, false},
		{"(filter: {" + dates + "})", "totalCount @skip(if: $yes)", page{Size: 20, Filter: dated}, false},
		{"(filter: {" + dates + "})", "nodes { product { comments { totalCount } } }", page{Size: 20, Filter: dated}, true},
		{"(page: 3, first: 5)", "pageCount", page{Size: 5, Number: 3, Numbering: comment.Numbering{Count: true}}, true},
		{"", "pageNumber", page{Size: 20, Numbering: comment.Numbering{Number: true}}, false},
		{"(last: 3)", "pageNumber", page{Size: 3, FromEnd: true, Numbering: comment.Numbering{Number: true}}, true},
		{`(after: "")`, "pageNumber", page{Size: 20, Numbering: comment.Numbering{Number: true}}, false},
		{`(after: "x")`, "pageNumber pageCount totalCount", page{Size: 20, ByCursor: true, Numbering: comment.Numbering{Number: true, Count: true}}, false},
		{`(before: "x")`, "pageNumber", page{Size: 20, ByCursor: true, Numbering: comment.Numbering{Number: true}}, false},
		{`(after: "x")`, "pageNumber stats { total }", page{Size: 20, ByCursor: true, Numbering: comment.Numbering{Number: true}}, true},
		{"(filter: {" + dates + "})", "pageCount", page{Size: 20, Filter: dated, Numbering: comment.Numbering{Count: true}}, false},
		{"", "pageNumber pageCursors { last { page } }", page{Size: 20, Numbering: comment.Numbering{Number: true, Links: true, Around: comment.DefaultAround}}, false},
		{"", "a: pageCursors(around: 4) { last { page } } b: pageCursors(around: 0) { last { page } }", page{Size: 20, Numbering: comment.Numbering{Links: true, Around: 4}}, false},
		{"", "pageCursors(around: 1000000) { last { page } }", page{Size: 20, Numbering: comment.Numbering{Links: true, Around: comment.MaxAround}}, false},
		{"(filter: {" + dates + "})", "... on CommentConnection { c: totalCount } nodes { product { stats { total } } }", page{Size: 20, Filter: dated, Count: comment.CountTotal}, true},
	} {
		field := comments(t, row.arguments, row.selection, variables)
		asked := field.Page
		got := page{
			asked.Slice.Size, asked.Slice.Page, asked.Slice.FromEnd, asked.Slice.After != nil || asked.Slice.Before != nil, asked.Cursors, asked.Plan,
			asked.Filter, asked.Order, asked.Numbering, asked.Count, comment.KindOf(asked.Refused),
		}
		if row.want.Order == "" {
			row.want.Order = comment.NewestFirst
		}
		if diff := cmp.Diff(row.want, got); diff != "" || field.WantsStatistics != row.statistics {
			t.Errorf("comments%s { %s }: statistics %v, page (-want +got):\n%s", row.arguments, row.selection, field.WantsStatistics, diff)
		}
	}
}

// A page from the newest comment on has the newest of all comments, or of all with its ratings.
func TestFromNewest(t *testing.T) {
	variables := map[string]any{"n": nil, "f": nil, "yes": true}
	for arguments, want := range map[string]bool{
		"": true, "(first: 3)": true, "(order: NEWEST_FIRST)": true, "(last: 3, order: OLDEST_FIRST)": true, "(filter: {ratings: [4, 5]})": true,
		"(page: 1)": true, "(after: null, before: null, order: null, settledOnly: false)": true, "(filter: {languages: []})": true,
		`(after: "", before: "")`: true,

		"(last: 3)": false, "(order: OLDEST_FIRST)": false, "(page: 2)": false, `(after: "x")`: false, `(last: 1, order: OLDEST_FIRST, before: "x")`: false,
		"(settledOnly: true)": false, `(filter: {languages: ["de"]})`: false, `(filter: {createdBefore: "2024-05-01T00:00:00Z"})`: false,
		`(filter: {createdAfter: "2024-05-01T00:00:00Z"})`: false,

		// What the field refuses is no page of anything.
		"(page: 1, last: 5, order: OLDEST_FIRST)": false, "(page: 0)": false, "(page: 1, first: 0)": false, "(first: 3, last: 3)": false,
		"(first: 101)": false, "(first: -1)": false, "(filter: {ratings: [9]})": false,
	} {
		if got := comments(t, arguments, "__typename", variables).Page.FromNewest; got != want {
			t.Errorf("comments%s: %v", arguments, got)
		}
	}
}

// A page without comments is not read for what the statistics have.
func TestOnlyCounts(t *testing.T) {
	for _, row := range []struct {
		arguments, selection string
		want                 bool
	}{
		{"(first: 0)", "totalCount a: totalCount", true},
		{"(first: 0, filter: {ratings: [1]})", "stats { total }", true},
		{"(last: 0)", "totalCount", true},

		{"(first: 1)", "totalCount", false},
		{"(first: 0)", "totalCount pageInfo { hasNextPage }", false},
		{"(first: 0)", "__typename", false},
		{`(first: 0, filter: {createdAfter: "2024-05-01T00:00:00Z"})`, "totalCount", false},
	} {
		if got := comments(t, row.arguments, row.selection, map[string]any{"n": nil, "f": nil, "yes": true}).Page.OnlyCounts; got != row.want {
			t.Errorf("comments%s { %s }: %v", row.arguments, row.selection, got)
		}
	}
}

func TestOperation(t *testing.T) {
	const id = "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"
	type asked struct {
		text, statistics bool
		count, comments  int
	}
	for _, row := range []struct {
		query string
		want  asked // of the first root field
	}{
		{`{ product(id: "p") { id } }`, asked{}},
		{`{ comment(id: "` + id + `") { text } }`, asked{text: true, count: 1, comments: 1}},
		{`{ comment(id: "` + id + `") { id } comment(id: "` + id + `") { author { name } } }`, asked{count: 1, comments: 1}},
		{`{ node(id: "p") { id } other: __typename @skip(if: true) }`, asked{count: 1}},
		{`{ nodes(ids: ["p", "` + id + `"]) { ... on Comment { ...T } } } fragment T on Comment { t: text }`, asked{text: true, count: 2, comments: 1}},
		{`{ products(ids: "p") { stats { total } } }`, asked{statistics: true, count: 1}},
		{`{ leaderboard { product { languages { count } } } }`, asked{statistics: true, count: 10}},
		{`{ leaderboard(first: 1000) { rank } }`, asked{count: 1000}},
		{`{ product(id: "p") { ... on Node { ... on Comment { text product { stats { total } } } } } }`, asked{}}, // never applies
	} {
		f := read(t, row.query, nil).Fields[0]
		got := asked{f.WantsText, f.WantsStatistics, f.Count, f.CommentIDs}
		if got != row.want {
			t.Errorf("%s: %+v, want %+v", row.query, got, row.want)
		}
	}
}

// Of a field that holds products and comments, each type is asked for different things.
func TestWantsStatisticsOf(t *testing.T) {
	f := read(t, `{ nodes(ids: ["p"]) { ... on Comment { product { stats { total } } } ... on Product { id comments { nodes { id } } } } }`, nil).Fields[0]
	if f.WantsStatisticsOf("Product") || !f.WantsStatisticsOf("Comment") || !f.WantsStatistics {
		t.Error("only the products of comments have their statistics shown")
	}
}

// A resolver finds the field that it answers, by its response name, below lists and in fragments on
// one of several types.
func TestFrom(t *testing.T) {
	document, errs := gqlparser.LoadQueryWithRules(schema, `{ nodes(ids: ["p"]) {
		... on Product { a: latestPositive { id } b: comments(first: 3) { nodes { x: product { comments(last: 4) { totalCount } } } } }
		... on Comment { c: product { comments(first: 5) { totalCount } } } } }`, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	operation := &graphql.OperationContext{Doc: document, Operation: document.Operations[0]}
	NewReader(schema).Read(operation)
	ctx := graphql.WithFieldContext(graphql.WithOperationContext(t.Context(), operation), &graphql.FieldContext{Object: "Query"})
	nodes := inField(ctx, "Query", "nodes", "nodes")
	element := inElement(nodes)
	page := inField(element, "Product", "comments", "b")
	for name, row := range map[string]struct {
		at   context.Context
		want int
	}{
		"a page of a product":           {page, 3},
		"a page below":                  {inField(inField(inElement(inField(page, "CommentConnection", "nodes", "nodes")), "Comment", "product", "x"), "Product", "comments", "comments"), 4},
		"a page of a comment's product": {inField(inField(element, "Comment", "product", "c"), "Product", "comments", "comments"), 5},
	} {
		if got := From(row.at).Page.Slice.Size; got != row.want {
			t.Errorf("%s: a page of %d, want %d", name, got, row.want)
		}
	}
	for name, ctx := range map[string]context.Context{
		"a field that is not asked for":  inField(element, "Product", "comments", "comments"),
		"an operation that was not read": inField(graphql.WithOperationContext(t.Context(), &graphql.OperationContext{}), "Query", "nodes", "nodes"),
	} {
		if !panics(func() { From(ctx) }) {
			t.Errorf("%s: no panic", name)
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func inField(ctx context.Context, object, name, alias string) context.Context {
	field := &ast.Field{Name: name, Alias: alias, ObjectDefinition: schema.Types[object]}
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: object, Field: graphql.CollectedField{Field: field}})
}

func inElement(ctx context.Context) context.Context {
	index := 0
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &index})
}
