package httpapi_test

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/telemetry/spans"
)

// The cost of observing a request is nothing if there is no observer.
func BenchmarkObservers(b *testing.B) {
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	tracesOf := func(sampler trace.Sampler) httpapi.Observer {
		return httpapi.TraceRequests(spans.NewTracer(trace.NewTracerProvider(trace.WithSampler(sampler))))
	}
	for _, row := range []struct {
		name      string
		observers []httpapi.Observer
	}{
		{"none", nil},
		{"slow operations", []httpapi.Observer{httpapi.NewSlowLog(log, time.Hour)}},
		{"a line for each", []httpapi.Observer{httpapi.LogRequests(log)}},
		{"traces that are not sampled", []httpapi.Observer{tracesOf(trace.NeverSample())}},
		{"traces", []httpapi.Observer{tracesOf(trace.AlwaysSample())}},
	} {
		b.Run(row.name, func(b *testing.B) {
			handler := httpapi.New(options(func(o *httpapi.Options) { o.Observers = row.observers }))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"query Mine { echo }"}`))
				r.Header.Set("Content-Type", "application/json")
				handler.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
