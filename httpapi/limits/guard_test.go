package limits_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/quota"
	"github.com/talkback/talkback/resolvers"
)

// Each limit serves exactly what it allows, and refuses one more.
func TestEachLimitIsExact(t *testing.T) {
	ids := map[string]any{"ids": []any{"x", "y"}}
	product := `{ product(id: "x") { `
	for _, row := range []struct {
		code      limits.Code
		limit     func(*limits.Limits) *int
		value     int
		query     string
		variables any
	}{
		{limits.TooManyTokens, func(l *limits.Limits) *int { return &l.Tokens }, 4, "{__typename}#", nil},
		{limits.NestedTooDeep, func(l *limits.Limits) *int { return &l.Nesting }, 5, product + `comments(filter: {ratings: [1]}) { nodes { id } } } }`, nil},
		{limits.NameTooLong, func(l *limits.Limits) *int { return &l.NameBytes }, 10, `{__typename}`, nil},
		{limits.TooManyOperations, func(l *limits.Limits) *int { return &l.Operations }, 2, `query a {__typename} query b {__typename}`, nil},
		{limits.TooManyFragments, func(l *limits.Limits) *int { return &l.Fragments }, 2, `{...F ...G} fragment F on Query {__typename} fragment G on Query {__typename}`, nil},
		{limits.TooDeep, func(l *limits.Limits) *int { return &l.Depth }, 3, `{...F} fragment F on Query {product(id: "x") {...{latestPositive {id}}}}`, nil},
		{limits.TooManyFields, func(l *limits.Limits) *int { return &l.Fields }, 6, `{...F ...F} fragment F on Query {...{__typename}}`, nil},
		{limits.SelectionTooLong, func(l *limits.Limits) *int { return &l.SelectionFields }, 3, product + `id id __typename}}`, nil},
		{limits.TooManyRootFields, func(l *limits.Limits) *int { return &l.RootFields }, 3, `{__typename ...F} fragment F on Query {a: __typename b: __typename}`, nil},
		{limits.TooManyAliases, func(l *limits.Limits) *int { return &l.Aliases }, 3, `{a: __typename ...F} fragment F on Query {b: __typename c: __typename}`, nil},
		{limits.TooManyIntrospections, func(l *limits.Limits) *int { return &l.Introspections }, 2, `{__schema {__typename} __type(name: "a") {name}}`, nil},
		{limits.TooManyOverlaps, func(l *limits.Limits) *int { return &l.Overlaps }, 3 + 3, product + `latestPositive {id} latestPositive {id} ...{latestPositive {id}}}}`, nil},
		{limits.TooManyDirectives, func(l *limits.Limits) *int { return &l.Directives }, 2, `{__typename @skip(if: false) @include(if: true)}`, nil},
		{limits.ValueTooDeep, func(l *limits.Limits) *int { return &l.ValueDepth }, 2, product + `comments(filter: {ratings: [1]}) {nodes {id}}}}`, nil},
		{limits.ValueTooDeep, func(l *limits.Limits) *int { return &l.ValueDepth }, 2, filtered, map[string]any{"f": map[string]any{"ratings": []any{1}}}},
		{limits.ListTooLong, func(l *limits.Limits) *int { return &l.ListLength }, 2, `{products(ids: ["x", "y"]) {id}}`, nil},
		{limits.ListTooLong, func(l *limits.Limits) *int { return &l.ListLength }, 2, `query($ids: [ID!]!) {products(ids: $ids) {id}}`, ids},
		{limits.TooManyVariables, func(l *limits.Limits) *int { return &l.Variables }, 2, `query($a: Boolean!, $b: Boolean!) {__typename @skip(if: $a) @include(if: $b)}`, map[string]any{"a": false, "b": true}},
		{limits.VariablesTooLarge, func(l *limits.Limits) *int { return &l.VariableValues }, 3, `query($ids: [ID!]!) {products(ids: $ids) {id}}`, ids},
		{limits.TooComplex, func(l *limits.Limits) *int { return &l.ReadUnits }, 13, product + `comments(first: 100) {nodes {id}}}}`, nil},
		{limits.AnswerTooLarge, func(l *limits.Limits) *int { return &l.AnswerValues }, 6, `{products(ids: ["x", "y", "z", "u", "v"]) {id}}`, nil},
		{limits.AnswerTooLarge, func(l *limits.Limits) *int { return &l.AnswerValues }, 5 + 2 + 2*5, product + `comments(filter: {createdAfter: "2024-05-01T00:00:00Z", languages: ["de", "en"]}) {totalCount plan {skipped {partitionKey}}}}}`, nil},
		{limits.AnswerTooLarge, func(l *limits.Limits) *int { return &l.AnswerValues }, 4 + 2*2 + 1, product + `comments(filter: {languages: ["de", "en"], ratings: [1, 2, 3]}, order: MOST_HELPFUL) {plan {skipped {partitionKey}}}}}`, nil},
		{limits.TooManyErrors, func(l *limits.Limits) *int { return &l.Errors }, 2, `{a b}`, nil},
		{limits.AnswerTooManyBytes, func(l *limits.Limits) *int { return &l.AnswerBytes }, 22, `{__typename}`, nil},
	} {
		for _, allowed := range []int{row.value, row.value - 1} {
			handler := newServer(&shop{}, func(o *httpapi.Options) { *row.limit(&o.Limits) = allowed })
			got := ask(t, handler, row.query, row.variables)
			refused := len(got.Errors) > 0 && got.Errors[len(got.Errors)-1].Extensions.Code == string(row.code)
			if refused != (allowed < row.value) {
				t.Errorf("%s with a limit of %d: %+v", row.code, allowed, got.Errors)
			}
		}
	}
}

// subscribable makes a server accept subscriptions.
func subscribable(o *httpapi.Options) {
	o.Subscriptions = &httpapi.Subscriptions{
		Max: 1, PerClient: 1, Client: func(*http.Request) (quota.Client, bool) { return quota.Client{}, false },
		TokenRefused: func(context.Context) bool { return false },
	}
}

// A subscription has exactly one root field, whatever it skips. It may select the fields that its
// event has read, and no others. One that may be served asks for a stream.
func TestSubscriptions(t *testing.T) {
	handler := newServer(&shop{}, subscribable)
	const fine, reads = "SUBSCRIPTION_NEEDS_STREAM", string(limits.EventReads)
	for fields, code := range map[string]string{
		`{ stats(productId: "x") { total average verified withMedia asOf ratings { rating count } } }`:                                                              fine,
		`{ commentEvents(productId: "x") { kind commentId comment { title text author { name } media { url } votes { helpful } reply { text } product { id } } } }`: fine,
		`{ commentEvents(productId: "x") { comment { product { stats { total } } } } }`:                                                                             reads,
		`{ commentEvents(productId: "x") { comment { product { latestPositive { id } } } } }`:                                                                       reads,
		`{ commentEvents(productId: "x") { comment { votes { viewerVote } } } }`:                                                                                    reads,
		`{ stats(productId: "x") @skip(if: true) { total } }`:                                                                                                       invalid,
		`{ ...Stats @include(if: false) } fragment Stats on Subscription { stats(productId: "x") { total } }`:                                                       invalid,
		`{ a: stats(productId: "x") { total } b: stats(productId: "x") { total } }`:                                                                                 invalid,
	} {
		if got := ask(t, handler, `subscription `+fields, nil); len(got.Errors) != 1 || got.code() != code {
			t.Errorf("%s: %+v, want %s", fields, got.Errors, code)
		}
	}
}

// An answer has the estimated cost of its operation: with variables resolved, without skipped
// fields, and with repeated fields counted once.
func TestCost(t *testing.T) {
	handler := newServer(&shop{}, nil)
	product := func(fields string) string { return `{ product(id: "x") { ` + fields + ` } }` }
	id := `"c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"`
	for _, row := range []struct {
		why, query string
		variables  any
		want       int
	}{
		{"nothing is read", product("id"), nil, 0},
		{"a page of 20: 21 comments of 1 KB, half a unit for each 4 of them", product("comments { nodes { id } }"), nil, 3},
		{"an empty page looks for one comment", product("comments(first: 0) { nodes { id } }"), nil, 1},
		{"a page that is refused", product("comments(first: 5000) { nodes { id } }"), nil, 13},
		{"three partitions of 20", product(`comments(filter: {ratings: [1, 2, 3]}) { nodes { id } }`), nil, 9},
		{"four partitions of 20, a few of each first", product(`comments(filter: {languages: ["de", "en"], ratings: [1, 2]}) { nodes { id } }`), nil, 11},
		{"16 partitions of 20 behind 80 others, in a range of dates that is counted", product(`comments(page: 5, filter: {languages: ["de", "en", "fr", "ja"], ratings: [1, 2, 3, 4], createdAfter: "2024-01-01T00:00:00Z"}) { totalCount nodes { id } }`), nil, 91},
		{"the most helpful, and others if these are few", product("comments(order: MOST_HELPFUL) { nodes { id } }"), nil, 4},
		{"from the end, others may be found by their ranks", product("comments(last: 20, order: MOST_HELPFUL) { nodes { id } }"), nil, 11},
		{"and so they may behind a cursor", product(`comments(order: MOST_HELPFUL, after: "AgAAAAAAAAAAAAAAAAAAAACcNPQ5IPynqfA-") { nodes { id } }`), nil, 11},
		{"a size by default of a variable", `query($n: Int = 100) ` + product("comments(first: $n) { nodes { id } }"), nil, 13},
		{"a size from a variable", `query($n: Int = 100) ` + product("comments(first: $n) { nodes { id } }"), map[string]any{"n": 20}, 3},
		{"a filter from a variable", filtered, map[string]any{"f": map[string]any{"ratings": []any{1, 2, 3}}}, 9},
		{"skipped", `query($a: Boolean!) ` + product("comments @skip(if: $a) { nodes { id } }"), map[string]any{"a": true}, 0},
		{"not included", product("...@include(if: false) { comments { nodes { id } } }"), nil, 0},
		{"asked for twice", product("comments { nodes { id } } comments { nodes { rating } }"), nil, 3},
		{"two aliases", product("a: comments { nodes { id } } b: comments { nodes { id } }"), nil, 6},
		{"each of three products", `{ products(ids: ["a", "b", "c"]) { comments { nodes { id } } } }`, nil, 9},
		{"the products of five comments", product("comments(first: 5) { nodes { product { lastCommentedAt } } }"), nil, 1 + 3},
		{"through edges", product("comments(first: 5) { edges { node { product { lastCommentedAt } } } }"), nil, 1 + 3},
		{"the newest comment: a page of one", product("a: lastCommentedAt b: lastCommentedAt"), nil, 1},
		{"the newest of two ratings: two partitions, or a comment by its id", product("latestPositive { id }"), nil, 1},
		{"the latest ones: a sample of eight, and what it may not show", product("lastCommentedAt latestPositive { id } latestNegative { id }"), nil, 1 + 1 + 1},
		{"a sample too", product("latestPositive { id } latestNegative { id }"), nil, 1 + 1 + 1},
		{"the newest comment is on the page of the newest", product("comments { nodes { id } } lastCommentedAt"), nil, 3},
		{"the newest of two ratings may not be", product("comments { nodes { id } } lastCommentedAt latestPositive { id }"), nil, 3 + 1},
		{"it is on a page of these", product("comments(filter: {ratings: [4, 5]}) { nodes { id } } latestPositive { id }"), nil, 6},
		{"but not the others", product("comments(filter: {ratings: [4, 5]}) { nodes { id } } latestPositive { id } latestNegative { id }"), nil, 6 + 1 + 1},
		{"nor on that of another product", `{ a: product(id: "x") { comments { nodes { id } } } b: product(id: "y") { latestPositive { id } } }`, nil, 3 + 1},
		{"statistics may tell where they are", product("stats { total } latestPositive { id }"), nil, 1 + 1},
		{"a product page", product("comments { nodes { id } } stats { total } latestPositive { id } latestNegative { id } lastCommentedAt"), nil, 3 + 1 + 1 + 1},
		{"a comment", `{ comment(id: ` + id + `) { id } }`, nil, 1},
		{"one node, not as a list", `{ nodes(ids: ` + id + `) { id } }`, nil, 1},
		{"statistics: half a unit", product("stats { total }"), nil, 1},
		{"of a hundred products", `{ products(ids: [` + distinct(`"p%d", `, 100) + `]) { stats { total ratings { count } } } }`, nil, 50},
		{"however often and wherever they are asked for, they are read once for each product", `{ products(ids: ["a", "b", "c", "d"]) {
			stats { total } de: stats(lang: "de") { total } languages { count } comments(first: 1) { totalCount stats { total } nodes { product { stats { total } } } } } }`, nil, 2 + 4/2 + 4/2},
		{"each language of a filter may share a row, which is read too", product(`comments(first: 1, filter: {languages: ["de", "en", "fr"]}) { totalCount }`), nil, 4},
		{"and so may each single language", product(`de: stats(lang: "de") { total } en: stats(lang: "en") { total }`), nil, 2},
		{"first where they are multiplied", `{ products(ids: ["a", "b"]) { comments(first: 100) { nodes { product { stats { total } } } totalCount } stats { total } } }`, nil, 2*13 + 1},
		{"below an empty page, and beside it", `{ products(ids: ["a", "b"]) { comments(first: 0) { nodes { product { stats { total } } } } stats { total } } }`, nil, 1 + 1},
		{"entities", `query($r: [_Any!]!) { _entities(representations: $r) { ... on Product { comments(first: 20) { nodes { id } } } } }`,
			map[string]any{"r": []any{map[string]any{"__typename": "Comment", "id": "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"}, map[string]any{"id": 7}}}, 1 + 2*3},
		{"of the products of comments", `{ nodes(ids: [` + id + `, ` + id + `]) { ... on Comment { product { stats { total } } } } }`, nil, 2 + 1},
		{"of two root fields", `{ a: product(id: "a") { stats { total } } b: product(id: "b") { stats { total } } c: product(id: "c") { stats { total } } }`, nil, 2},
		{"a range of dates is counted: 400 comments of 1 KB", product(`comments(filter: {createdAfter: "2024-05-01T00:00:00Z"}) { totalCount }`), nil, 3 + 50},
		{"a total and its parts are counted once", product(`comments(filter: {createdAfter: "2024-05-01T00:00:00Z", ratings: [1, 2, 3]}) { totalCount stats { total } }`), nil, 9 + 51},
		{"of several counts, the most expensive is charged", product(`comments(filter: {createdAfter: "2024-05-01T00:00:00Z", languages: ["de", "en", "fr"]}) { stats { total } totalCount }`), nil, 9 + 15*7/2 + 1},
		{"the first page by number is the first page", product("comments(page: 1) { nodes { id } }"), nil, 3},
		{"the second: a lookup of one place, and a third of the price of 20 comments", product("comments(page: 2) { nodes { id } }"), nil, 3 + 5 + 1},
		{"any other: at most 256 comments are skipped", product("comments(page: 1000) { nodes { id } }"), nil, 3 + 5 + 11},
		{"one that is refused", product("comments(page: -1) { nodes { id } }"), nil, 3},
		{"the number of pages: statistics", product("comments { pageCount }"), nil, 3 + 1},
		{"that of the first page is known", product("comments { pageNumber }"), nil, 3},
		{"of the last, it follows from statistics", product("comments(last: 20) { pageNumber pageCount totalCount }"), nil, 3 + 1},
		{"pages without comments have no numbers", product(`comments(last: 0, filter: {createdAfter: "2024-05-01T00:00:00Z"}) { pageNumber pageCount pageCursors { last { page } } }`), nil, 1},
		{"of a page by cursor, all numbers are looked up together", product(`comments(after: "AgAAAAAAAAAAAAAAAAAAAACcNPQ5IPynqfA-") { pageNumber pageCount }`), nil, 3 + 6},
		{"so is the number of pages within dates", product(`comments(filter: {createdAfter: "2024-05-01T00:00:00Z"}) { pageCount }`), nil, 3 + 5},
		{"links: a lookup of nine places", product("comments { pageCount pageCursors { last { page } } }"), nil, 3 + 13},
		{"of more places", product("comments { a: pageCursors { last { page } } b: pageCursors(around: 10) { last { page } } }"), nil, 3 + 29},
		{"the page and its links are looked up together", product("comments(page: 1000) { pageCursors { last { page } } }"), nil, 3 + 11 + 13},
		{"a leaderboard: its settings, and room for ten entries of however many shards", `{ leaderboard { rank } }`, nil, 5},
		{"a long one", `{ leaderboard(first: 100) { rank } }`, nil, 15},
		{"one that is refused", `{ leaderboard(first: 1000000) { rank } }`, nil, 15},
		{"with statistics", `{ leaderboard(first: 100) { product { stats { total } languages { count } } } }`, nil, 65},
		{"the own comment on products is looked for once", `{ products(ids: ["a", "b"]) { viewerComment { id } } }`, nil, 26},
		{"own comments: keys of an index, and each by its id", `{ viewer { comments { nodes { id } } } }`, nil, 21},
		{"they are about a product each", `{ viewer { comments { nodes { product { stats { total } } } } } }`, nil, 21 + 10},
		{"and so are others", `{ viewer { comments { nodes { product { a: stats { total } stats { total } } } } b: comments(after: "x") { nodes { product { stats { total } } } } } }`, nil, 2*(21+10) - 1},
		{"those that wait, and the latest of a customer", `{ moderation { queue { nodes { comment { product { stats { total } } } } edges { node { comment { product { stats { total } } } } } } commentsBy(customerId: "a") { latest { product { stats { total } } } } } }`, nil, 22 + 10 + 7 + 3},
		{"a short page", `{ viewer { comments(first: 1) { nodes { id } } } }`, nil, 2},
		{"own comments in one state: all that are looked at are read", `{ viewer { comments(first: 1, status: PENDING) { nodes { id } } } }`, nil, 101},
		{"a page that is refused", `{ viewer { comments(first: 1000000) { nodes { id } } } }`, nil, 101},
		{"an edit: the comment, and its entries in four lists", `mutation { editComment(input: {id: ` + id + `, version: 1}) { comment { id } } }`, nil, 26},
		{"a new comment: its author's entry too", `mutation { addComment(input: {productId: "a", rating: 1, language: "en", text: "", author: {id: "a", name: "a"}}) { comment { id } } }`, nil, 31},
		{"nodes of both kinds", `{ nodes(ids: ["x", ` + id + `, ` + id + `]) { id } node(id: ` + id + `) { id } }`, nil, 3},
	} {
		got := ask(t, handler, row.query, row.variables)
		if cost := got.Extensions.Cost.EstimatedReadUnits; cost != row.want {
			t.Errorf("%s: %d units, want %d %v", row.why, cost, row.want, got.Errors)
		}
	}
}

// Without introspection, errors reveal nothing of the schema that the client did not name first.
func TestIntrospectionOff(t *testing.T) {
	handler := newServer(&shop{}, func(o *httpapi.Options) { o.NoIntrospection = true })
	for _, query := range []string{
		`{ __schema { types { name } } }`, `{ ... { __type(name: "Query") { name } } }`, `{ ...F } fragment F on Query { a: __schema { types { name } } }`,
	} {
		if got := ask(t, handler, query, nil); got.code() != string(limits.IntrospectionIsOff) {
			t.Errorf("%s: %+v", query, got.Errors)
		}
	}
	if got := ask(t, handler, `{ __typename }`, nil); len(got.Errors) > 0 {
		t.Errorf("the name of a type is no question about the schema: %+v", got.Errors)
	}
	for _, query := range []string{
		`{ produkt(id: "x") { id } }`, `{ product(idd: "x") { id } }`, `{ product { id } }`, `{ product(id: "x") }`, `{ product(id: "x") { id { a } } }`,
		`{ ...F } fragment F on Kwery { a }`, `{ product(id: "x") { comments(order: NEWEST) { nodes { id } } } }`,
		`{ product(id: "x") { comments(filter: {rating: 1}) { nodes { id } } } }`, `{ product(id: "x") { comments(order: "NEWEST") { nodes { id } } } }`,
	} {
		got := ask(t, handler, query, nil)
		if len(got.Errors) == 0 || strings.Contains(got.Errors[0].Message, "Did you mean") {
			t.Errorf("%s: %+v, want an error without a suggestion", query, got.Errors)
		}
	}
}

// An answer that is too large because of its texts is never built in memory.
func TestAnswerOfLargeTexts(t *testing.T) {
	handler := newServer(&shop{text: repeat("x", comment.MaxTextBytes)}, nil)
	body := envelope(t, `{ product(id: "x") { comments(first: 100) { nodes { `+distinct("t%d: text ", 30)+` } } } }`, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, raw := post(handler, body)
	runtime.ReadMemStats(&after)
	if got := decode(t, raw); len(got.Errors) != 1 || got.code() != string(limits.AnswerTooManyBytes) || string(got.Data) != "null" {
		t.Errorf("%.300s", raw)
	}
	// The buffer of the answer doubles as it grows, and each text is copied once to be escaped.
	if allocated, most := after.TotalAlloc-before.TotalAlloc, uint64(8*limits.Default().AnswerBytes); allocated > most {
		t.Errorf("%d MB were allocated, more than %d", allocated>>20, most>>20)
	}
}

// panicking panics in a resolver: no method of a nil interface can be called.
type panicking struct{ resolvers.Lister }

// moderating panics in a decision, and when it is asked who the caller is.
type moderating struct{ resolvers.Service }

func (moderating) Moderate(context.Context) error { return nil }

// A panic about one element of a list, which has a goroutine of its own, does not end the process.
func TestPanicAboutAnElement(t *testing.T) {
	waiting := func(_ context.Context, ids []comment.ID, _ bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
		return map[comment.ID]comment.Comment{ids[0]: {ID: ids[0], Status: comment.Pending}}, nil, nil
	}
	handler := newServer(&shop{}, func(o *httpapi.Options) {
		o.Schema = graph.NewExecutableSchema(graph.Config{Resolvers: &resolvers.Resolver{Service: moderating{}}})
		o.Loaders = loaders.Options{Comments: waiting}
	})
	for _, query := range []string{
		`{ nodes(ids: ["c_01HWSAVBG0ZZZZZZZZZZZZZZZZ", "p"]) { id } }`,
		`mutation { decideComments(input: {decisions: [{id: "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ", version: 1}]}) { results { comment { id } } } }`,
	} {
		if got := ask(t, handler, query, nil); len(got.Errors) != 1 || got.code() != "INTERNAL" {
			t.Errorf("%s: %+v, want an error", query, got.Errors)
		}
	}
}

// A panic becomes the error INTERNAL of its field, with the id of the request. The log has the
// panic under that id. Other fields are answered.
func TestPanicInAResolver(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	handler := newServer(&shop{}, func(o *httpapi.Options) {
		o.Schema = graph.NewExecutableSchema(graph.Config{Resolvers: &resolvers.Resolver{Comments: panicking{}}})
		o.ErrorPresenter = resolvers.ErrorPresenter(logger, httpapi.RequestID)
		o.Loaders = loaders.Options{}
	})
	for query, field := range map[string]string{
		`{ a: product(id: "x") { id comments { nodes { id } } } b: product(id: "y") { id } }`:                             "comments",
		`{ a: product(id: "x") { id latestPositive { id } } b: product(id: "y") { id } }`:                                 "latestPositive",
		`{ a: product(id: "x") { id stats { total } } b: product(id: "y") { id } }`:                                       "stats",
		`{ a: product(id: "x") { id } leaderboard { rank } b: product(id: "y") { id } }`:                                  "leaderboard",
		`{ a: product(id: "x") { id } c: comment(id: "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ") { id } b: product(id: "y") { id } }`: "c",
		`{ a: product(id: "x") { id } nodes(ids: ["c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"]) { id } b: product(id: "y") { id } }`:   "nodes",
	} {
		log.Reset()
		got := ask(t, handler, query, nil)
		if len(got.Errors) != 1 || got.code() != "INTERNAL" || strings.Contains(got.Errors[0].Message, "pointer") {
			t.Fatalf("%s: %+v, want one error that tells nothing", query, got.Errors)
		}
		if !strings.Contains(string(got.Data), `"a":{"id":"x"`) || !strings.Contains(string(got.Data), `"b":{"id":"y"}`) {
			t.Errorf("%s: one field took others along: %s", query, got.Data)
		}
		path := got.Errors[0].Path
		if last := path[len(path)-1]; last != field && path[0] != field {
			t.Errorf("%s: the error is at %v, want %s", query, path, field)
		}
		_, id, _ := strings.Cut(got.Errors[0].Message, "request ")
		if id == "" || !strings.Contains(log.String(), "request="+id) || !strings.Contains(log.String(), "nil pointer") {
			t.Errorf("%s: request %q is not in the log: %.200s", query, id, log.String())
		}
	}
}
