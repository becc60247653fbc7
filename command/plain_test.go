package command_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talkback/talkback/command"
)

// For each answer of an engine, or of something in its place, people get a plain sentence: never
// the SDK's own words.
func TestRefusalsOfEngines(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why    string
		status int
		body   string
		says   string
		logs   bool
	}{
		{"wrong credentials", 400, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"inside"}`, "AWS does not accept the credentials: give others by AWS_PROFILE", false},
		{"a wrong signature", 400, `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"inside"}`, "AWS does not accept the credentials", false},
		{"old credentials", 400, `{"__type":"com.amazon.coral.service#ExpiredTokenException","message":"inside"}`, "the credentials have expired", false},
		{"no permission", 400, `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"inside"}`, "the credentials lack a permission", false},
		{"a refusal that nobody foresaw", 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"inside"}`, "the engine refused DescribeTable: ValidationException", true},
		{"a web server's page", 200, "<html>It works!</html>", "not a DynamoDB-compatible engine, HTTP status 200): start it there, or name another by --endpoint", false},
		{"a web server that answers everything", 200, "{}", "not a DynamoDB-compatible engine, HTTP status 200): start it there, or name another by --endpoint", false},
		{"a web server that knows no such page", 404, "<html>inside</html>", "not a DynamoDB-compatible engine, HTTP status 404): start it there, or name another by --endpoint", false},
		{"a web server that says nothing", 404, "", "not a DynamoDB-compatible engine, HTTP status 404): start it there, or name another by --endpoint", false},
		{"a proxy without its server", 502, "<html>inside</html>", "not a DynamoDB-compatible engine, HTTP status 502): start it there, or name another by --endpoint", false},
	} {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(row.status)
			_, _ = io.WriteString(w, row.body) // the client may be gone
		}))
		var stderr, log bytes.Buffer
		status := command.Main(t.Context(), []string{"verify", "--endpoint", front.URL}, command.Terminal{
			In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		front.Close()
		said := stderr.String()
		if status != 1 || !strings.Contains(said, row.says) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: status %d, %s; want %q", row.why, status, said, row.says)
		}
		for _, raw := range []string{"inside", "operation error", "RequestID", "StatusCode", "html"} {
			if strings.Contains(said, raw) {
				t.Errorf("%s: what is inside is said: %s", row.why, said)
			}
		}
		if strings.Contains(log.String(), "inside") != row.logs {
			t.Errorf("%s: the log has %s", row.why, log.String())
		}
	}
}
