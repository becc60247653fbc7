package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// schema answers each field with something that shows how HTTP handles it.
type schema struct {
	parsed *ast.Schema
	// entered gets a word whenever a wait begins, which ends when released is closed.
	entered, released chan struct{}
}

func newSchema() *schema {
	return &schema{
		parsed: gqlparser.MustLoadSchema(&ast.Source{Input: `
			scalar Number
			type Query { echo(text: String, number: Number): String, long: String, huge: String, fails: String, waits: String, panics: String }
			type Mutation { change: String }`}),
		entered:  make(chan struct{}),
		released: make(chan struct{}),
	}
}

func (s *schema) Schema() *ast.Schema { return s.parsed }

func (s *schema) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

// Exec implements graphql.ExecutableSchema: it answers the operation's first field.
func (s *schema) Exec(ctx context.Context) graphql.ResponseHandler {
	operation := graphql.GetOperationContext(ctx)
	field := operation.Operation.SelectionSet[0].(*ast.Field)
	return func(context.Context) *graphql.Response {
		switch field.Name {
		case "fails":
			return &graphql.Response{Data: json.RawMessage(`{"fails":null}`), Errors: gqlerror.List{{Message: "it failed"}}}
		case "waits":
			s.entered <- struct{}{}
			<-s.released
		case "panics":
			panic("secret inside")
		}
		value := map[string]any{field.Name: s.value(field, operation)}
		data, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return &graphql.Response{Data: data}
	}
}

func (s *schema) value(field *ast.Field, operation *graphql.OperationContext) any {
	switch field.Name {
	case "long":
		return strings.Repeat("as long as a page ", 500)
	case "huge":
		return strings.Repeat("more than the buffers of any connection ", 200_000) // 8 MB
	}
	if len(field.Arguments) == 0 {
		return operation.Operation.Name
	}
	value, err := field.Arguments[0].Value.Value(operation.Variables)
	if err != nil {
		panic(err)
	}
	return value
}

// hideFaults shows GraphQL's errors and timeouts, and hides all others, as the service's presenter
// does.
func hideFaults(_ context.Context, err error) *gqlerror.Error {
	var refused *gqlerror.Error
	if errors.As(err, &refused) && refused.Err == nil {
		return refused
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &gqlerror.Error{Message: "context deadline exceeded"}
	}
	return &gqlerror.Error{Message: "something went wrong"}
}

// options returns a server's options with a test's changes.
func options(set func(*httpapi.Options)) httpapi.Options {
	o := httpapi.Options{
		Schema:           newSchema(),
		ErrorPresenter:   hideFaults,
		Pages:            func(http.Handler) http.Handler { return http.NotFoundHandler() },
		Ready:            func(context.Context) error { return nil },
		OperationTimeout: time.Minute,
		Logger:           slog.New(slog.DiscardHandler),
	}
	if set != nil {
		set(&o)
	}
	return o
}

// newServer starts a server with a test's changes to its options.
func newServer(t *testing.T, set func(*httpapi.Options)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(newHandler(t, set))
	t.Cleanup(server.Close)
	return server
}

// reply is an answer, with its body decompressed.
type reply struct {
	status int
	header http.Header
	raw    []byte
	body   string
}

// code returns extensions.code of the first error, empty without errors.
func (a reply) code(t *testing.T) string {
	t.Helper()
	var parsed struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &parsed); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if len(parsed.Errors) == 0 {
		return ""
	}
	if parsed.Errors[0].Message == "" {
		t.Errorf("an error without a sentence: %s", a.body)
	}
	return parsed.Errors[0].Extensions.Code
}

// newRequest returns a request with headers written as "Name: value". A later one replaces an
// earlier one, and "Name:" removes it.
func newRequest(t *testing.T, method, address string, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, address, body))(t)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		request.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			request.Header.Set(name, value)
		}
	}
	return request
}

// newPost returns a request that posts a JSON body.
func newPost(t *testing.T, server *httptest.Server, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	return newRequest(t, http.MethodPost, server.URL+"/graphql", body, append([]string{isJSON}, headers...)...)
}

// posted returns a request for a handler, with a JSON body.
func posted(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// send sends a request that newRequest makes.
func send(t *testing.T, method, address, body string, headers ...string) reply {
	t.Helper()
	headers = append([]string{"Accept-Encoding: identity"}, headers...) // or Go's client would ask for gzip and hide it
	return do(t, newRequest(t, method, address, strings.NewReader(body), headers...), http.DefaultTransport)
}

// do sends a request unchanged.
func do(t *testing.T, request *http.Request, by http.RoundTripper) reply {
	t.Helper()
	response := must.Get(by.RoundTrip(request))(t)
	defer response.Body.Close()
	raw := must.Get(io.ReadAll(response.Body))(t)
	out := reply{status: response.StatusCode, header: response.Header, raw: raw, body: string(raw)}
	if response.Header.Get("Content-Encoding") == "gzip" {
		out.body = unpack(t, raw)
	}
	return out
}

func unpack(t *testing.T, packed []byte) string {
	t.Helper()
	reader := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
	return string(must.Get(io.ReadAll(reader))(t))
}

const isJSON = "Content-Type: application/json"

// post posts a JSON body.
func post(t *testing.T, server *httptest.Server, body string, headers ...string) reply {
	t.Helper()
	return send(t, http.MethodPost, server.URL+"/graphql", body, append([]string{isJSON}, headers...)...)
}

// serves checks that a server still answers.
func serves(t *testing.T, server *httptest.Server, when string) {
	t.Helper()
	if got := post(t, server, `{"query": "{ long }"}`); got.status != http.StatusOK {
		t.Errorf("%s: %d %s", when, got.status, got.body)
	}
}

// get sends a GET with the parameters of a query string.
func get(t *testing.T, server *httptest.Server, parameters string, headers ...string) reply {
	t.Helper()
	return send(t, http.MethodGet, server.URL+"/graphql?"+parameters, "", headers...)
}
