package httpapi_test

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
)

// observer records its calls.
type observer struct {
	mu    sync.Mutex
	began int
	ended []httpapi.Exchange
}

type observedKey struct{}

func (o *observer) Began(r *http.Request, _ *httpapi.Exchange) context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began++
	return context.WithValue(r.Context(), observedKey{}, true)
}

func (o *observer) Ended(ctx context.Context, e *httpapi.Exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Value(observedKey{}) == true {
		o.ended = append(o.ended, *e)
	}
}

// of returns what the observer recorded about the request with an id, or the zero value.
func (o *observer) of(id string) (told httpapi.Exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.ended {
		if e.ID == id {
			told = e
		}
	}
	return told
}

// refused reports whether a request was refused for a reason.
func (o *observer) refused(reason string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.ended, func(e httpapi.Exchange) bool { return e.Refused == reason })
}

// Observers are called for every request, with its outcome.
func TestObservers(t *testing.T) {
	var told observer
	handler := newHandler(t, func(o *httpapi.Options) { o.Observers, o.MaxBody = []httpapi.Observer{&told}, 200 })
	ask := func(method, path string) *http.Request { return httptest.NewRequest(method, path, nil) }
	operation := func(text string) *http.Request { return posted(`{"query": "` + text + `"}`) }
	scheme := "http"
	if lambdatest.Form != "" {
		scheme = "https" // clients call a function over HTTPS
	}
	api := httpapi.Exchange{Method: "POST", Route: "/graphql", Scheme: scheme, Status: 200}
	with := func(change func(*httpapi.Exchange)) httpapi.Exchange {
		e := api
		change(&e)
		return e
	}
	for _, row := range []struct {
		why     string
		request *http.Request
		want    httpapi.Exchange
	}{
		{"a query that is answered", operation("query mine { echo }"), with(func(e *httpapi.Exchange) { e.Operation, e.Name, e.Outcome = "query", "mine", "ok" })},
		{"a mutation", operation("mutation { change }"), with(func(e *httpapi.Exchange) { e.Operation, e.Outcome = "mutation", "ok" })},
		{"a field that fails", operation("{ fails }"), with(func(e *httpapi.Exchange) { e.Operation, e.Outcome = "query", "partial" })},
		{"an operation that cannot be parsed", operation("{"), with(func(e *httpapi.Exchange) { e.Outcome, e.Code = "refused", "GRAPHQL_PARSE_FAILED" })},
		{"one that does not fit the schema", operation("{ nothing }"), with(func(e *httpapi.Exchange) { e.Outcome, e.Code = "refused", "GRAPHQL_VALIDATION_FAILED" })},
		{"a body that is too large", operation(strings.Repeat(" ", 200)), with(func(e *httpapi.Exchange) { e.Status, e.Outcome, e.Code = 413, "refused", "BODY_TOO_LARGE" })},
		{"a method that is not served", ask("PATCH", "/graphql"), with(func(e *httpapi.Exchange) {
			e.Method, e.Status, e.Outcome, e.Code = "PATCH", 405, "refused", "METHOD_NOT_ALLOWED"
		})},
		{"a question for methods", ask("OPTIONS", "/graphql"), with(func(e *httpapi.Exchange) { e.Method, e.Status, e.Outcome = "OPTIONS", 204, "ok" })},
		{"a probe", ask("GET", "/healthz"), httpapi.Exchange{Method: "GET", Route: "/healthz", Scheme: scheme, Status: 200}},
		{"a page", ask("GET", "/products/a%2Fb"), httpapi.Exchange{Method: "GET", Route: "/products/{id}", Scheme: scheme, Status: 404}},
		{"any other path", ask("GET", "/somewhere/else"), httpapi.Exchange{Method: "GET", Route: "/{file}", Scheme: scheme, Status: 404}},
	} {
		told.ended = nil
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, row.request)
		if len(told.ended) != 1 {
			t.Fatalf("%s: told of %d requests", row.why, len(told.ended))
		}
		got := told.ended[0]
		if got.ID != answer.Header().Get("X-Request-Id") || got.Took <= 0 || got.Began.IsZero() {
			t.Errorf("%s: id %q, took %v since %v", row.why, got.ID, got.Took, got.Began)
		}
		if row.want.Code != "" {
			row.want.Codes = []string{row.want.Code}
		}
		if diff := cmp.Diff(row.want, got, cmpopts.IgnoreFields(httpapi.Exchange{}, "ID", "Began", "Took", "Ran", "Bytes", "Plans")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.why, diff)
		}
	}
}

// Observers learn which limit of the server refused a request. A request by a page within the
// server is marked as such, and an abandoned answer has no status.
func TestObserversOfWhatGoesWrong(t *testing.T) {
	s, told := newSchema(), &observer{}
	handler := newHandler(t, func(o *httpapi.Options) {
		o.Observers, o.Schema, o.Concurrency = []httpapi.Observer{told}, s, httpapi.NewLimiter(1, 1)
		o.Pages = func(api http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/abandoned" {
					panic(http.ErrAbortHandler)
				}
				api.ServeHTTP(w, httptest.NewRequest("GET", "/graphql?query={echo}", nil).WithContext(r.Context()))
			})
		}
	})
	serve := func(path string) {
		defer func() { _ = recover() }()
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve("/graphql?query={waits}")
	}()
	<-s.entered
	serve("/graphql?query={echo}")
	close(s.released)
	<-done
	serve("/")
	serve("/abandoned")
	want := []httpapi.Exchange{
		{Route: "/graphql", Status: 503, Outcome: "refused", Code: "OVERLOADED", Codes: []string{"OVERLOADED"}, Refused: "limit"},
		{Route: "/graphql", Status: 200, Outcome: "ok", Operation: "query"},
		{Route: "/graphql", Status: 200, Outcome: "ok", Operation: "query", Inside: true},
		{Route: "/", Status: 200},
		{Route: "/{file}", Status: 0},
	}
	if diff := cmp.Diff(want, told.ended, cmpopts.IgnoreFields(httpapi.Exchange{}, "ID", "Began", "Took", "Ran", "Bytes", "Plans", "Method", "Scheme")); diff != "" {
		t.Error(diff)
	}
	if told.began != len(want) {
		t.Errorf("%d requests began", told.began)
	}
}

// Even without telemetry, a server logs slow operations. That takes four allocations a request: the
// exchange, the answer that notes its status, the plan's printer, and gqlgen's for one more
// extension.
func TestObserversAllocateLittle(t *testing.T) {
	slow := httpapi.NewSlowLog(slog.New(slog.DiscardHandler), time.Hour)
	defer slow.Close()
	without, with := allocationsOf(nil), allocationsOf([]httpapi.Observer{slow, slow})
	if with > without+4 {
		t.Errorf("%v allocations with observers, and %v without", with, without)
	}
}

// allocationsOf returns the least number of allocations of a server for a request: pools keep
// objects by chance.
func allocationsOf(observers []httpapi.Observer) float64 {
	handler := httpapi.New(options(func(o *httpapi.Options) { o.Observers = observers }))
	least := math.Inf(1)
	for range 100 {
		least = min(least, testing.AllocsPerRun(1, func() {
			handler.ServeHTTP(httptest.NewRecorder(), posted(`{"query":"query Mine { echo }"}`))
		}))
	}
	return least
}
