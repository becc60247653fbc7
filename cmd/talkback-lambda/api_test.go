package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/otlptest"
	"github.com/talkback/talkback/internal/servertest/lambdatest"
)

// The program answers requests that come by Lambda's runtime API, and survives other events. What
// an invocation did is sent when its answer comes.
func TestAPI(t *testing.T) {
	endpoint, receiver := dynamotest.Dynoxide(t), otlptest.Start(t)
	_, table := newTable(t)
	for name, value := range map[string]string{
		"TALKBACK_FUNCTION": "api", "TALKBACK_ENDPOINT": endpoint, "TALKBACK_TABLE": table,
		"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.URL, "OTEL_METRIC_EXPORT_INTERVAL": "3600000", "OTEL_BSP_SCHEDULE_DELAY": "3600000",
	} {
		t.Setenv(name, value)
	}
	function := must.Get(newFunctionOfEnvironment(t.Context(), slog.New(slog.DiscardHandler)))(t)
	running := lambdatest.Run(t, function.(api))
	for form, front := range map[string]http.Handler{"a function URL": running.URL(), "a load balancer": running.Balancer()} {
		server := httptest.NewServer(front)
		defer server.Close()
		if _, err := running.Invoke(t.Context(), []byte(`{"Records": [{"eventSource": "aws:s3"}]}`)); !errors.Is(err, lambdatest.ErrFailed) || !strings.Contains(err.Error(), "aws:s3") {
			t.Errorf("an event of S3: %v", err)
		}
		for path, want := range map[string]string{
			"/readyz": "ready",
			"/graphql?query=" + `%7B%20product(id%3A%22a%2Fb%22)%7Bid%20comments%7Bnodes%7Bid%7D%7D%7D%7D`: `{"data":{"product":{"id":"a/b","comments":{"nodes":[]}}}`,
			"/products/a%2Fb":    "<html",
			"/playground":        "<html",
			"/graphql?query=%7B": "GRAPHQL_PARSE_FAILED",
		} {
			if got := get(t, server.URL+path); !strings.Contains(got, want) {
				t.Errorf("%s, %s: %.300s, want %s", form, path, got, want)
			}
		}
	}
	if spans := receiver.Spans(""); len(spans) == 0 {
		t.Error("no span came")
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	return string(must.Get(io.ReadAll(response.Body))(t))
}

func TestFunctionName(t *testing.T) {
	t.Setenv("TALKBACK_FUNCTION", "server")
	if _, err := newFunctionOfEnvironment(context.Background(), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "give count") {
		t.Error(err)
	}
}
