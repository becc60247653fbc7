package command_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/web"
)

// firstState is the initial state of the page's element.
type firstState struct {
	Answer struct {
		Data struct {
			Viewer  struct{ CustomerID, MayWrite any }
			Product struct {
				List struct {
					PageCount, PageNumber int
					Nodes                 []struct{ ID, Text string }
				}
			}
		}
		Errors     []any
		Extensions struct {
			Cost struct{ EstimatedReadUnits, ReadUnits float64 }
		}
	}
}

var stateScript = regexp.MustCompile(`(?s)class="talkback-state">(.*?)</script>`)

// shown is the first state of a page.
func (a *api) shown(path string, headers ...string) (state firstState) {
	a.tb.Helper()
	page := fetch(a.tb, http.MethodGet, a.server.URL+path, headers...)
	found := stateScript.FindStringSubmatch(page.body)
	if page.status != http.StatusOK || found == nil {
		a.tb.Fatalf("%s is %d\n%s\n%s", path, page.status, page.body, a.log)
	}
	must.Do(a.tb, json.Unmarshal([]byte(found[1]), &state))
	return state
}

// A reader who follows the links of a product page sees every comment once, by numbers and by
// cursors. No page exceeds a server's default limits or its estimated cost.
func TestProductPagesShowEveryComment(t *testing.T) {
	t.Parallel()
	a, r := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t)
	comments := crowd(r, "kettle", 110)
	a.load(comments...)
	next := regexp.MustCompile(`<link rel="next" href="([^"]*)">`)
	walk := func() (pages int) {
		seen := map[string]bool{}
		for query := ""; ; pages++ {
			state := a.shown("/products/kettle" + query)
			for _, node := range state.Answer.Data.Product.List.Nodes {
				if seen[node.ID] {
					t.Errorf("%s shows %s again", query, node.ID)
				}
				seen[node.ID] = true
			}
			if cost := state.Answer.Extensions.Cost; cost.ReadUnits > cost.EstimatedReadUnits {
				t.Errorf("%s: estimated %v, consumed %v", query, cost.EstimatedReadUnits, cost.ReadUnits)
			}
			link := next.FindStringSubmatch(fetch(t, http.MethodGet, a.server.URL+"/products/kettle"+query).body)
			if link == nil {
				break
			}
			query = strings.ReplaceAll(link[1], "&amp;", "&")
		}
		if len(seen) != len(comments) {
			t.Errorf("%d of %d comments are shown", len(seen), len(comments))
		}
		return pages + 1
	}
	if pages := walk(); pages != 6 {
		t.Errorf("%d pages by cursor, want 6", pages)
	}
	a.pages = a.inTable(t, comments...)
	a.useClient(a.session.Client)
	if pages := walk(); pages != 6 {
		t.Errorf("%d pages by number, want 6", pages)
	}
	for _, row := range []struct {
		path, shows string
		status      int
		why         string
	}{
		{"/products/kettle?page=7", `href="?page=6"`, http.StatusNotFound, "beyond the last page"},
		{"/products/c_1", "", http.StatusNotFound, "an id that no product can have"},
		{"/products/kettle?after=abc", `href="/products/kettle">First page`, http.StatusBadRequest, "a cursor of nothing"},
	} {
		if got := fetch(t, http.MethodGet, a.server.URL+row.path); got.status != row.status || !strings.Contains(got.body, row.shows) {
			t.Errorf("%s: %d\n%s", row.why, got.status, got.body)
		}
	}
}

// A page says who may write, as the API tells a request without a token from the same place. That
// holds for a request with a token too, since the page may be cached for others.
func TestProductPageIsTheSameForEveryone(t *testing.T) {
	t.Parallel()
	open, tokens := newAPI(t, dynamotest.Dynoxide(t)), guarded(t)
	closed := newAPI(t, dynamotest.Dynoxide(t))
	closed.authorizer = auth.Closed{}
	closed.useClient(closed.session.Client)
	for _, row := range []struct {
		service *api
		header  string
		want    bool
		reason  string
	}{
		{open, "", true, "this machine, without tokens"},
		{open, "X-Forwarded-For: 203.0.113.7", false, "through a proxy, without tokens"},
		{tokens, "", false, "no token"},
		{tokens, bearer(tokenOf(t, "u1", time.Hour)), false, "a customer's token"},
		{closed, "", false, "writing is off"},
	} {
		viewer := row.service.shown("/products/kettle", row.header).Answer.Data.Viewer
		if viewer.MayWrite != row.want || viewer.CustomerID != nil {
			t.Errorf("%s: the page says %+v, want that writing is allowed: %t", row.reason, viewer, row.want)
		}
	}
}

// BenchmarkProductPage measures a product page of 20 comments in the server. It makes the API's
// answer alone, the page with it, and the page when the answer is there already. The first two wait
// for the engine.
func BenchmarkProductPage(b *testing.B) {
	a, r := newAPI(b, dynamotest.Dynoxide(b)), commenttest.Rand(b)
	a.load(crowd(r, "kettle", 200)...)
	whole := a.server.Config.Handler
	operation := must.Get(os.ReadFile("../web/product/product.graphql"))(b)
	body, err := json.Marshal(map[string]any{
		"query": string(operation), "variables": map[string]any{"id": "kettle", "first": 20, "highlights": true},
	})
	must.Do(b, err)
	answer := serveOnce(b, whole, http.MethodPost, "/graphql", body, "identity")
	repeating := web.Options{}.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }))
	for _, row := range []struct {
		name         string
		handler      http.Handler
		method, path string
	}{
		{"api", whole, http.MethodPost, "/graphql"},
		{"page", whole, http.MethodGet, "/products/kettle"},
		{"page-alone", repeating, http.MethodGet, "/products/kettle"},
	} {
		b.Run(row.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(serveOnce(b, row.handler, row.method, row.path, body, "gzip"))
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// serveOnce returns the body of an answer.
func serveOnce(b *testing.B, handler http.Handler, method, path string, body []byte, encoding string) []byte {
	b.Helper()
	request := httptest.NewRequest(method, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept-Encoding", encoding)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		b.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return answer.Body.Bytes()
}
