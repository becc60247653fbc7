package command_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
)

// newFunction makes the API of a function over a table, from variables written as NAME=value.
func newFunction(t *testing.T, session *command.Session, variables ...string) (*command.Function, error) {
	t.Helper()
	for _, variable := range append([]string{"TABLE=" + session.Table, "ENDPOINT=" + session.Address}, variables...) {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv("TALKBACK_"+name, value)
	}
	return command.NewFunction(t.Context(), command.Terminal{Out: io.Discard, Err: io.Discard, Logger: slog.New(slog.DiscardHandler), LogsJSON: true})
}

// A function has the settings of a server: with its limits, and closed to writers without tokens.
func TestFunctionIsAServer(t *testing.T) {
	session := newSession(t, dynamotest.Dynoxide(t))
	f := must.Get(newFunction(t, session, "NO_INTROSPECTION=true", "CLIENT_READ_UNITS=100"))(t)
	ask := func(query string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(`{"query": "`+query+`"}`))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = "192.0.2.1:0"
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	for _, row := range []struct{ query, want, why string }{
		{`{ product(id: \"mug\") { id comments { nodes { id } } } }`, `{"data":{"product":{"id":"mug","comments":{"nodes":[]}}}`, "a page"},
		{`{ __schema { types { name } } }`, "INTROSPECTION", "a setting"},
		{`mutation { deleteComment(input: {id: \"c_01ARZ3NDEKTSV4RRFFQ69G5FAV\"}) { userErrors { code } } }`, "tokens", "nobody may write"},
	} {
		got := ask(row.query)
		if body := got.Body.String(); !strings.Contains(body, row.want) || !strings.Contains(got.Header().Get("RateLimit-Policy"), "100") {
			t.Errorf("%s: %v %s, want %s and the limit of a client", row.why, got.Header(), body, row.want)
		}
	}
}

// Settings that do not fit a function are refused by name, with the reason. So are those that any
// command refuses.
func TestFunctionRefuses(t *testing.T) {
	session := newSession(t, dynamotest.Dynoxide(t))
	for _, row := range []struct{ variable, want string }{
		{"LISTEN=:80", "takes the connections"}, {"TLS_CERT=a", "takes the connections"}, {"TLS_KEY=a", "takes the connections"},
		{"MAX_CONNECTIONS=1", "takes the connections"}, {"MAX_ARRIVING=1", "takes the connections"}, {"MAX_UNSENT=1", "takes the connections"},
		{"DRAIN_TIMEOUT=1s", "takes the connections"}, {"DRAIN_DELAY=1s", "takes the connections"},
		{"MAX_IN_FLIGHT=1", "reserved concurrency"}, {"MIN_IN_FLIGHT=1", "reserved concurrency"},
		{"ADMIN_LISTEN=:80", "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"DATA=data", "local engine"}, {"ENGINE=/bin/true", "local engine"},
		{"CREATE_TABLE=true", "on a machine of yours"}, {"SAMPLE_DATA=true", "on a machine of yours"},
		{"PAGE_AGE=2s", "CDN"}, {"LOG_FORMAT=text", "lines of JSON"}, {"LISTEN=json", "takes the connections"},
		{"PAGES=sqlite:/tmp/pages", "TALKBACK_PAGES names no store"},
		{"TLS_KEY=a", "TALKBACK_TLS_KEY"}, {"MODERATION=strict", "TALKBACK_MODERATION must be"}, {"LOG_LEVEL=loud", "TALKBACK_LOG_LEVEL must be"},
		{"VISITOR_VOTES=true", "TALKBACK_VISITOR_VOTES needs"},
		{"TABLE=no-such-table", `"no-such-table"`},
		{"MODERATOR_TOKEN=", "TALKBACK_MODERATOR_TOKEN is set but empty"},
		{"MAX_BODY=much", "much"},
		{"MODERATOR_TOKEN=short", "32"},
	} {
		t.Run(row.variable, func(t *testing.T) {
			_, err := newFunction(t, session, row.variable)
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") || strings.Contains(strings.ReplaceAll(err.Error(), "talkback --help", ""), "--") {
				t.Errorf("%v, want one sentence with %q", err, row.want)
			}
		})
	}
}

// Clients of a function see the same as clients of a server: tests of the service from outside also
// run through a function. Tests that write without tokens are left out. Only this machine may do
// that, and a function's clients count as behind a proxy.
func TestServiceThroughFunction(t *testing.T) {
	t.Parallel()
	lambdatest.Again(t, "url", []string{
		"TestAuditOfGraphQLOverHTTP", "TestErrorTexts", "TestNullWhereNoneCanBe", "TestFieldsUnderOneName",
		"TestModeration", "TestOneCommentForEachProduct", "TestViewerComments", "TestWhatSharedCachesKeep", "TestProductPagesShowEveryComment",
	})
}
