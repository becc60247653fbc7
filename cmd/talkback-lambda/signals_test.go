package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/otlptest"
	"github.com/talkback/talkback/pageindex/keeper"
)

// sending makes a function for a table that sends its signals to an endpoint, and does so only when
// an invocation ends.
func sending(t *testing.T, endpoint string) (f invoke, table string) {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "3600000")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	log := slog.New(slog.DiscardHandler)
	sent := must.Get(startTelemetry(t.Context(), os.LookupEnv, log))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what is left is of no use
		_ = sent.metrics.Stop(ctx)
	})
	client, table := newTable(t)
	return must.Get(newFunction(t.Context(), client, table, keeper.Target{Name: keeper.InTable}, sent, log))(t), table
}

// What an invocation did is sent when it returns, since the process may stand still from then on.
func TestFunctionTells(t *testing.T) {
	receiver := otlptest.Start(t)
	f, table := sending(t, receiver.URL)
	c := commenttest.Many(commenttest.Rand(t), "p", 1)[0]
	hand(t, f, table, "1", c)
	spans := receiver.Spans("")
	for _, name := range []string{"process stream", "TransactWriteItems"} {
		if !slices.ContainsFunc(spans, func(s otlptest.Span) bool { return s.Name == name }) {
			t.Errorf("no span %q came, of %v", name, spans)
		}
	}
	for _, text := range []string{"talkback.stream.records", "db.client.operation.duration", "COUNTING", "service.name"} {
		if !strings.Contains(receiver.Raw(), text) {
			t.Errorf("no metric has %s", text)
		}
	}
	if strings.Contains(receiver.Raw(), c.Text) || strings.Contains(receiver.Raw(), c.Author.Name) {
		t.Error("what a customer wrote was sent")
	}
}

// An endpoint that does not answer costs an invocation a second, and no record.
func TestEndpointOfFunctionInTrouble(t *testing.T) {
	var waiting atomic.Int32 // exports
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the exporter hangs up
		<-r.Context().Done()
	}))
	t.Cleanup(hung.Close)
	f, table := sending(t, hung.URL)
	hand(t, f, table, "1", commenttest.Many(commenttest.Rand(t), "p", 1)...)
	if waiting.Load() == 0 { // OpenTelemetry gives up after ten seconds
		t.Error("the invocation waited until nothing was sent any more")
	}
}
