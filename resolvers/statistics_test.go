package resolvers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/resolvers"
)

// readTime is how long each read of a shop takes. The time of a request then shows how many reads
// followed each other.
const readTime = 10 * time.Millisecond

// shop answers without a table. Every product has a comment in each language and with each rating.
type shop struct {
	resolvers.Service
	mu      sync.Mutex
	batches [][]string // products whose statistics were read, by call
	rows    []int      // number of languages whose rows were read, by call
	asked   []int      // number of batches before each call for freshness
	texts   []bool     // whether comments were read with their texts, by call
	fail    error      // of statistics
	page    error      // of pages
	refuse  func(comment.Verdict) error
}

var everything = comment.Stats{"de": {Counts: comment.Counts{1, 2, 3, 4, 5}}, "en": {Counts: comment.Counts{0, 0, 0, 0, 10}}}

// Comments implements resolvers.Lister. The duration of a read depends on the product.
func (s *shop) Comments(_ context.Context, q comment.Query) (comment.Page, error) {
	time.Sleep(readTime - time.Duration(len(q.Product))*time.Millisecond)
	page := comment.Page{Comments: []comment.Comment{{ID: comment.IDOf(comment.Position{}), ProductID: q.Product, Rating: 5, Language: "de", Version: 1}}}
	switch q.Count {
	case comment.CountTotal:
		page.Counted = &comment.Counted{Total: 7, Err: s.fail}
	case comment.CountByRating:
		page.Counted = &comment.Counted{Total: 7, ByRating: comment.Counts{1, 1, 1, 1, 3}, Err: s.fail}
	}
	return page, s.page
}

// CommentsByID fetches comments. Each comment is about a product of its own.
func (s *shop) CommentsByID(_ context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	s.mu.Lock()
	s.texts = append(s.texts, !withoutText)
	s.mu.Unlock()
	time.Sleep(readTime)
	found = map[comment.ID]comment.Comment{}
	for _, id := range ids {
		found[id] = comment.Comment{ID: id, ProductID: "of " + string(id), Rating: 1, Language: "de", Version: 1}
	}
	return found, nil, nil
}

func (s *shop) StatsOf(_ context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	s.mu.Lock()
	s.batches = append(s.batches, slices.Clone(products))
	s.mu.Unlock()
	time.Sleep(readTime)
	found = map[string]comment.Stats{}
	for _, product := range products {
		switch product {
		case "unknown":
		case "babel":
			found[product] = comment.Stats{"de": {Counts: comment.Counts{1, 2, 3, 4, 5}}, comment.OtherLanguages: {Counts: comment.Counts{9, 1, 0, 0, 0}}}
		default:
			found[product] = everything
		}
	}
	return found, nil, s.fail
}

// RowsOf fetches counts. A language has as many comments as its tag has bytes, but
// "tlh" has none.
func (s *shop) RowsOf(_ context.Context, languages []comment.ProductLanguage) (
	found map[comment.ProductLanguage]comment.Row, failed map[comment.ProductLanguage]error, err error,
) {
	s.mu.Lock()
	s.rows = append(s.rows, len(languages))
	s.mu.Unlock()
	time.Sleep(readTime)
	found = map[comment.ProductLanguage]comment.Row{}
	for _, l := range languages {
		if l.Language != "tlh" {
			found[l] = comment.Row{Counts: comment.Counts{len(l.Language), 0, 0, 0, 0}}
		}
	}
	return found, nil, s.fail
}

func (*shop) OwnComments(context.Context, comment.OwnQuery) (page comment.OwnPage, err error) {
	return page, nil
}

func (s *shop) Leaders(_ context.Context, _ comment.Language, first int) ([]comment.Leader, error) {
	time.Sleep(readTime)
	leaders := make([]comment.Leader, first)
	for i := range leaders {
		leaders[i] = comment.Leader{Rank: i + 1, Product: fmt.Sprint("p", i), Count: 1}
	}
	return leaders, nil
}

// freshness is the time up to which the statistics of the shop include every change.
func (s *shop) freshness(context.Context) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, len(s.batches))
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), s.fail == nil
}

func (s *shop) Add(_ context.Context, d comment.Draft, _ *string) (comment.Comment, []comment.Problem, error) {
	c, problems := d.Comment(comment.Position{})
	return c, problems, nil
}

func (*shop) Viewer(context.Context) comment.Viewer { return comment.Viewer{} }

// ask sends a query to a service over the shop. It returns the answer and how long it took.
func (s *shop) ask(t *testing.T, query string) (answer string, took time.Duration) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	resolver := &resolvers.Resolver{Comments: s, Service: s}
	handler := httpapi.New(httpapi.Options{
		Schema:           graph.NewExecutableSchema(graph.Config{Resolvers: resolver}),
		Fields:           resolver.Subgraph(""),
		ErrorPresenter:   resolvers.ErrorPresenter(logger, httpapi.RequestID),
		Loaders:          loaders.Options{Comments: s.CommentsByID, Stats: s.StatsOf, Rows: s.RowsOf, Freshness: s.freshness},
		Pages:            func(http.Handler) http.Handler { return http.NotFoundHandler() },
		Ready:            func(context.Context) error { return nil },
		OperationTimeout: time.Minute,
		Logger:           logger,
	})
	body := must.Get(json.Marshal(map[string]string{"query": query}))(t)
	request := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	start := time.Now()
	handler.ServeHTTP(recorder, request)
	return recorder.Body.String(), time.Since(start)
}

// mustAsk sends a query that has to succeed.
func (s *shop) mustAsk(t *testing.T, query string) time.Duration {
	t.Helper()
	answer, took := s.ask(t, query)
	if strings.Contains(answer, `"errors"`) {
		t.Fatalf("%s\n%.500s", query, answer)
	}
	return took
}

// ids returns a list of n product ids, beginning with number from.
func ids(from, n int) string {
	var quoted []string
	for i := range n {
		quoted = append(quoted, fmt.Sprintf(`"p%d"`, from+i))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func commentIDs(n int) string {
	var quoted []string
	for i := range n {
		quoted = append(quoted, fmt.Sprintf(`"%s"`, comment.IDOf(comment.Position{15: byte(i)})))
	}
	return strings.Join(quoted, ",")
}

// Statistics are fetched in one call for each hundred products, at any depth and for any number of
// fields. There is no call if no field needs them.
func TestStatisticsOfManyProductsAreOneCall(t *testing.T) {
	const everyWay = `stats { total } de: stats(lang: "de") { average } languages { count }
		comments(first: 1) { totalCount stats { total } nodes { product { stats { total } languages { count } } } edges { node { product { stats(lang: "en") { total } } } } }
		latestPositive { product { stats { total } comments(first: 1) { totalCount } } }`
	const dated = `comments(first: 1, filter: {createdAfter: "2024-05-01T00:00:00Z"})`
	for _, row := range []struct {
		why, query      string
		calls, products int
	}{
		{"a field", `{ products(ids: ` + ids(0, 100) + `) { stats { total } } }`, 1, 100},
		{"many fields", `{ products(ids: ` + ids(0, 50) + `) { ` + everyWay + ` } }`, 1, 50},
		{"a hundred", `{ products(ids: ` + ids(0, 100) + `) { stats { total } languages { count } comments(first: 1) { totalCount } } }`, 1, 100},
		{"only below pages, which come at different times", `{ products(ids: ` + ids(0, 100) + `) { comments(first: 1) { nodes { product { stats { total } } } } } }`, 1, 100},
		{"further down", `{ products(ids: ` + ids(0, 50) + `) { latestNegative { product { comments(first: 1) { edges { node { product { comments(first: 1) { totalCount } } } } } } } } }`, 1, 50},
		{"products one by one", `{ a: product(id: "p1") { ` + everyWay + ` } b: product(id: "p2") { stats { total } } c: node(id: "p3") { ... on Product { languages { count } } } d: product(id: "p1") { stats { total } } }`, 1, 3},
		{"the same product over and over", `{ products(ids: ["p1", "p1", "p1"]) { stats { total } } product(id: "p1") { comments { stats { total } } } }`, 1, 1},
		{"fragments and aliases", `query { a: products(ids: ` + ids(0, 30) + `) { ...F } b: products(ids: ` + ids(30, 30) + `) { ...F } } fragment F on Product { c: comments(first: 1) { t: totalCount } }`, 1, 60},
		{"nodes of both kinds", `{ nodes(ids: [` + commentIDs(40) + `, "p1", "p2"]) { ... on Comment { product { stats { total } } } ... on Product { languages { count } } } }`, 1, 42},
		{"entities", `{ _entities(representations: ` + representations(100) + `) { ... on Product { stats { total } comments(first: 1) { totalCount } } } }`, 1, 100},
		{"a comment", `{ comment(id: ` + commentIDs(1) + `) { product { comments { totalCount } stats { total } } } }`, 1, 1},
		{"a leaderboard", `{ leaderboard(first: 100) { product { stats { total } comments(first: 1) { totalCount } } } }`, 1, 100},
		{"three hundred", `{ a: products(ids: ` + ids(0, 100) + `) { stats { total } } b: products(ids: ` + ids(100, 100) + `) { stats { total } } c: products(ids: ` + ids(200, 100) + `) { stats { total } } }`, 3, 300},
		{"one more than a hundred", `{ a: products(ids: ` + ids(0, 100) + `) { stats { total } } b: product(id: "p100") { stats { total } } }`, 2, 101},

		{"not asked for", `{ products(ids: ` + ids(0, 3) + `) { id comments { nodes { id } plan { summary } } } }`, 0, 0},
		{"skipped", `{ product(id: "p1") { id stats @skip(if: true) { total } comments { ...F @include(if: false) pageInfo { endCursor } } } } fragment F on CommentConnection { totalCount }`, 0, 0},
		{"of a list with dates", `{ product(id: "p1") { ` + dated + ` { totalCount stats { total } } } }`, 0, 0},
		{"of a list with dates, and of its product", `{ product(id: "p1") { ` + dated + ` { totalCount nodes { product { comments(first: 1) { totalCount } } } } } }`, 1, 1},
		{"of comments, where there are none", `{ nodes(ids: ["p1", "p2"]) { id ... on Comment { product { stats { total } } } } }`, 0, 0},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{}
				s.mustAsk(t, row.query)
				products := 0
				for _, batch := range s.batches {
					products += len(batch)
				}
				if len(s.batches) != row.calls || products != row.products {
					t.Errorf("%d calls for %d products, want %d for %d", len(s.batches), products, row.calls, row.products)
				}
			})
		})
	}
}

// All statistics of a request have the same asOf, which is looked up once, before the first of them
// are fetched. Counts of a range of dates have none.
func TestStatisticsTellHowFreshTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		answer, _ := s.ask(t, `{ products(ids: ["p", "q"]) { stats { asOf } de: stats(lang: "de") { asOf } comments(first: 1) { stats { asOf total } } }
			one: product(id: "r") { comments(first: 1, filter: {createdAfter: "2024-05-01T00:00:00Z"}) { stats { asOf } } } }`)
		if fresh := strings.Count(answer, `"asOf":"2026-01-02T03:04:05Z"`); fresh != 6 || strings.Count(answer, `"asOf":null`) != 1 {
			t.Error(answer)
		}
		if !slices.Equal(s.asked, []int{0}) {
			t.Errorf("looks, by the batches before them: %v", s.asked)
		}
		s = &shop{}
		if s.mustAsk(t, `{ product(id: "p") { comments(first: 1) { nodes { id } } } }`); len(s.asked) > 0 {
			t.Error("a look, though no statistics were asked for")
		}
	})
}

// Statistics are read at the same time as pages, never after them.
func TestStatisticsComeBesideThePage(t *testing.T) {
	for _, row := range []struct {
		why, query string
		reads      int // reads that have to follow each other
	}{
		{"a total", `{ product(id: "p") { comments { totalCount } } }`, 1},
		{"below a page", `{ product(id: "p") { comments { nodes { product { stats { total } } } } } }`, 1},
		{"of a page of comments' product", `{ product(id: "p") { comments { nodes { product { comments { totalCount } } } } } }`, 2},
		{"of several products", `{ products(ids: ["p", "q"]) { comments { stats { total } } latestPositive { product { languages { count } } } } }`, 1},
		{"of a comment", `{ comment(id: ` + commentIDs(1) + `) { product { comments { totalCount } } } }`, 2},
		{"of nodes", `{ nodes(ids: [` + commentIDs(3) + `]) { ... on Comment { product { comments { totalCount } } } } }`, 2},
		{"of a leaderboard", `{ leaderboard { product { comments { totalCount } } } }`, 2},
		{"of what was written", `mutation { addComment(input: {productId: "p", rating: 5, language: "de", text: "", author: {id: "a", name: "A"}}) { comment { product { comments { totalCount } } } } }`, 1},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{}
				took := s.mustAsk(t, row.query)
				if waits := 3 * time.Millisecond; took > time.Duration(row.reads)*readTime+waits {
					t.Errorf("it took %v, longer than %d reads", took, row.reads)
				}
			})
		})
	}
}

// A failure affects only the fields that need its data.
func TestFailuresOfStatistics(t *testing.T) {
	for _, row := range []struct {
		why, query, want string
		fail, page       error
	}{
		{"the statistics", `{ product(id: "p") { id stats { total } languages { count } comments { totalCount stats { total } nodes { rating } } } }`,
			`{"product":{"id":"p","stats":null,"languages":null,"comments":{"totalCount":null,"stats":null,"nodes":[{"rating":5}]}}}`, errors.New("broken"), nil},
		{"the count of a range", `{ product(id: "p") { comments(filter: {createdAfter: "2024-05-01T00:00:00Z"}) { totalCount stats { total } nodes { rating } } } }`,
			`{"product":{"comments":{"totalCount":null,"stats":null,"nodes":[{"rating":5}]}}}`, errors.New("broken"), nil},
		{"the page", `{ product(id: "p") { stats { total } comments { totalCount } } }`,
			`{"product":{"stats":{"total":25},"comments":null}}`, nil, errors.New("broken")},
	} {
		synctest.Test(t, func(t *testing.T) {
			answer, _ := (&shop{fail: row.fail, page: row.page}).ask(t, row.query)
			if !strings.Contains(answer, `"data":`+row.want) || !strings.Contains(answer, `"INTERNAL"`) {
				t.Errorf("%s: %s", row.why, answer)
			}
		})
	}
}

// Languages that share a row of the statistics are looked up, in one call.
func TestManyLanguages(t *testing.T) {
	for _, row := range []struct {
		why, query, want string
		rows             []int
	}{
		{"all", `{ product(id: "babel") { stats { total } languages { language count } commentsInOtherLanguages comments { totalCount } } }`,
			`{"product":{"stats":{"total":25},"languages":[{"language":"de","count":15}],"commentsInOtherLanguages":10,"comments":{"totalCount":25}}}`, nil},
		{"none", `{ product(id: "p") { commentsInOtherLanguages } }`, `{"product":{"commentsInOtherLanguages":0}}`, nil},
		{"a language with a row", `{ product(id: "babel") { stats(lang: "de") { total } } }`, `{"product":{"stats":{"total":15}}}`, nil},
		{"a language that shares one", `{ product(id: "babel") { stats(lang: "fr") { total } } }`, `{"product":{"stats":{"total":2}}}`, []int{1}},
		{"of several products", `{ products(ids: ["babel", "p"]) { stats(lang: "fr") { total } } }`,
			`{"products":[{"stats":{"total":2}},{"stats":{"total":0}}]}`, []int{1}},
		{"a language without comments", `{ product(id: "babel") { stats(lang: "tlh") { total } } }`, `{"product":{"stats":{"total":0}}}`, []int{1}},
		{"a filter", `{ product(id: "babel") { comments(filter: {languages: ["de", "fr", "pt-BR", "tlh"], ratings: [1, 5]}) { totalCount stats { total } } } }`,
			`{"product":{"comments":{"totalCount":13,"stats":{"total":13}}}}`, []int{3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{}
			if answer, _ := s.ask(t, row.query); !strings.Contains(answer, `"data":`+row.want) || !slices.Equal(s.rows, row.rows) {
				t.Errorf("%s: %s\nwant %s; rows %v", row.why, answer, row.want, s.rows)
			}
		})
	}
}

// The rows of a chart, and products without comments.
func TestShapeOfStatistics(t *testing.T) {
	const all = `{ total average ratings { rating count } }`
	for _, row := range []struct{ why, query, want string }{
		{"all", `{ product(id: "p") { stats ` + all + ` languages { language count } } }`,
			`{"product":{"stats":{"total":25,"average":4.2,"ratings":[{"rating":5,"count":15},{"rating":4,"count":4},{"rating":3,"count":3},{"rating":2,"count":2},{"rating":1,"count":1}]},"languages":[{"language":"de","count":15},{"language":"en","count":10}]}}`},
		{"languages of a filter", `{ product(id: "p") { languages(filter: {ratings: [1, 5]}) { language count } worst: languages(filter: {ratings: [1]}) { language count } } }`,
			`{"product":{"languages":[{"language":"en","count":10},{"language":"de","count":6}],"worst":[{"language":"de","count":1}]}}`},
		{"one language, in any form", `{ product(id: "p") { stats(lang: "EN") ` + all + ` } }`,
			`{"product":{"stats":{"total":10,"average":5,"ratings":[{"rating":5,"count":10},{"rating":4,"count":0},{"rating":3,"count":0},{"rating":2,"count":0},{"rating":1,"count":0}]}}}`},
		{"nothing", `{ product(id: "unknown") { stats ` + all + ` languages { count } comments { totalCount } } }`,
			`{"product":{"stats":{"total":0,"average":null,"ratings":[{"rating":5,"count":0},{"rating":4,"count":0},{"rating":3,"count":0},{"rating":2,"count":0},{"rating":1,"count":0}]},"languages":[],"comments":{"totalCount":0}}}`},
		{"a filter", `{ product(id: "p") { comments(filter: {ratings: [5, 1], languages: ["de", "fr"]}) { totalCount stats ` + all + ` } } }`,
			`{"product":{"comments":{"totalCount":6,"stats":{"total":6,"average":4.333333333333333,"ratings":[{"rating":5,"count":5},{"rating":4,"count":0},{"rating":3,"count":0},{"rating":2,"count":0},{"rating":1,"count":1}]}}}}`},
		{"a range of dates", `{ product(id: "p") { comments(filter: {createdBefore: "2024-05-01T00:00:00Z"}) { totalCount stats { total } } } }`,
			`{"product":{"comments":{"totalCount":7,"stats":{"total":7}}}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			if answer, _ := (&shop{}).ask(t, row.query); !strings.Contains(answer, `"data":`+row.want) {
				t.Errorf("%s: %s\nwant %s", row.why, answer, row.want)
			}
		})
	}
}
