package command_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/web"
)

// get asks for a page with headers, and returns the answer and its body.
func (a *api) get(path string, headers map[string]string) (*http.Response, string) {
	a.tb.Helper()
	request, err := http.NewRequest(http.MethodGet, a.server.URL+path, nil)
	if err != nil {
		a.tb.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	noRedirects := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := noRedirects.Do(request)
	if err != nil {
		a.tb.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		a.tb.Fatal(err)
	}
	return response, string(body)
}

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
func (a *api) shown(path string, headers map[string]string) (state firstState) {
	a.tb.Helper()
	response, body := a.get(path, headers)
	found := stateScript.FindStringSubmatch(body)
	if response.StatusCode != http.StatusOK || found == nil {
		a.tb.Fatalf("%s is %s\n%s\n%s", path, response.Status, body, a.log)
	}
	if err := json.Unmarshal([]byte(found[1]), &state); err != nil {
		a.tb.Fatal(err)
	}
	return state
}

// A reader who follows the links of a product page sees every comment once, by numbers and by cursors. No page exceeds
// a server's default limits or its estimated cost.
func TestProductPagesShowEveryComment(t *testing.T) {
	t.Parallel()
	a, r := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t)
	comments := crowd(r, "kettle", 110)
	a.load(comments...)
	next := regexp.MustCompile(`<link rel="next" href="([^"]*)">`)
	walk := func() (pages int) {
		seen := map[string]bool{}
		for query := ""; ; pages++ {
			state := a.shown("/products/kettle"+query, nil)
			for _, node := range state.Answer.Data.Product.List.Nodes {
				if seen[node.ID] {
					t.Errorf("%s shows %s again", query, node.ID)
				}
				seen[node.ID] = true
			}
			if cost := state.Answer.Extensions.Cost; cost.ReadUnits > cost.EstimatedReadUnits {
				t.Errorf("%s: estimated %v, consumed %v", query, cost.EstimatedReadUnits, cost.ReadUnits)
			}
			_, body := a.get("/products/kettle"+query, nil)
			link := next.FindStringSubmatch(body)
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
	if response, body := a.get("/products/kettle?page=7", nil); response.StatusCode != http.StatusNotFound || !strings.Contains(body, `href="?page=6"`) {
		t.Errorf("beyond the last page: %s\n%s", response.Status, body)
	}
	if response, _ := a.get("/products/c_1", nil); response.StatusCode != http.StatusNotFound {
		t.Errorf("an id that no product can have: %s", response.Status)
	}
	if response, body := a.get("/products/kettle?after=abc", nil); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, `href="/products/kettle">First page`) {
		t.Errorf("a cursor of nothing: %s\n%s", response.Status, body)
	}
}

// A page says who may write, as the API tells a request without a token from the same place. That holds for a request
// with a token too, since the page may be cached for others.
func TestProductPageIsTheSameForEveryone(t *testing.T) {
	t.Parallel()
	open, tokens := newAPI(t, dynamotest.Dynoxide(t)), guarded(t)
	closed := newAPI(t, dynamotest.Dynoxide(t))
	closed.authorizer = auth.Closed{}
	closed.useClient(closed.session.Client)
	for _, row := range []struct {
		service *api
		headers map[string]string
		want    bool
		reason  string
	}{
		{open, nil, true, "this machine, without tokens"},
		{open, map[string]string{"X-Forwarded-For": "203.0.113.7"}, false, "through a proxy, without tokens"},
		{tokens, nil, false, "no token"},
		{tokens, map[string]string{"Authorization": "Bearer " + tokenOf(t, "u1", time.Hour)}, false, "a customer's token"},
		{closed, nil, false, "writing is off"},
	} {
		viewer := row.service.shown("/products/kettle", row.headers).Answer.Data.Viewer
		if viewer.MayWrite != row.want || viewer.CustomerID != nil {
			t.Errorf("%s: the page says %+v, want that writing is allowed: %t", row.reason, viewer, row.want)
		}
	}
}

// BenchmarkProductPage measures a product page of 20 comments in the server. It makes the API's answer alone, the page
// with it, and the page when the answer is there already. The first two wait for the engine.
func BenchmarkProductPage(b *testing.B) {
	a, r := newAPI(b, dynamotest.Dynoxide(b)), commenttest.Rand(b)
	a.load(crowd(r, "kettle", 200)...)
	whole := a.server.Config.Handler
	operation, err := os.ReadFile("../web/product/product.graphql")
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"query": string(operation), "variables": map[string]any{"id": "kettle", "first": 20, "highlights": true},
	})
	if err != nil {
		b.Fatal(err)
	}
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
