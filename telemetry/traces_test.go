package telemetry_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/otlptest"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/telemetry"
)

// A request that is not traced allocates nothing for it.
func TestUntracedRequestsAllocateNothing(t *testing.T) {
	var none *telemetry.Traces // as StartTraces returns, unless someone asks for traces
	none.Flush(t.Context())
	if allocations := testing.AllocsPerRun(100, func() { request(t.Context(), none.Tracer()) }); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

var asked = httptest.NewRequest("POST", "/graphql", nil)

// request begins and ends the spans of a page.
func request(ctx context.Context, tracer *usage.Tracer) {
	ctx, whole := tracer.Request(ctx, asked, "/graphql")
	defer whole.End()
	ctx, operation := usage.BeginOperation(ctx, "query", "Page")
	defer operation.End()
	ctx, wave := usage.From(ctx).Wave(ctx, "PAGE", 1)
	defer wave.End()
	_, call := usage.BeginCall(ctx, "Query")
	call.End()
}

// A sampler that does not exist is refused in a sentence with the cure.
func TestWrongSamplers(t *testing.T) {
	for _, row := range []struct{ name, value, says string }{
		{"OTEL_TRACES_SAMPLER", "sometimes", "parentbased_traceidratio"},
		{"OTEL_TRACES_SAMPLER_ARG", "1%", "a number from 0 to 1"},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN", "a number from 0 to 1"},
	} {
		variables := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_SAMPLER": "traceidratio", row.name: row.value}
		traces, err := telemetry.StartTraces(t.Context(), "v1", environmentOf(variables), slog.New(slog.DiscardHandler))
		if err == nil || traces != nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), row.value) {
			t.Errorf("%s=%s: %v", row.name, row.value, err)
		}
	}
}

// OpenTelemetry leaves out headers that it cannot read, and writes them to standard error. For an
// address that it cannot read, it sends to its default one. Either may hold a secret.
func TestUnreadableVariables(t *testing.T) {
	for _, row := range []struct{ name, value, says string }{
		{"OTEL_EXPORTER_OTLP_HEADERS", "secret", "NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization: Bearer secret=", "NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,secret", "NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret%", "percent-encode"},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "=secret", "NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "secret.example:4318", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318/secret", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@127.0.0.1:1/%zz", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https:///secret", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:12/secret@127.0.0.1:1", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://:12?secret@127.0.0.1:1", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:12#secret@127.0.0.1:1", "http://localhost:4318"},
	} {
		variables := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", row.name: row.value}
		wanted, err := telemetry.Wanted(environmentOf(variables), "TRACES")
		if err == nil || wanted || !strings.Contains(err.Error(), row.name) || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s=%s: %v, %v", row.name, row.value, wanted, err)
		}
	}
}

// start begins to trace to an endpoint.
func start(t *testing.T, endpoint string, log *commenttest.Transcript) *telemetry.Traces {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	traces, err := telemetry.StartTraces(t.Context(), "v1.2.3", os.LookupEnv, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil || traces == nil {
		t.Fatal(traces, err)
	}
	return traces
}

// Whether a request is recorded is the sampler's decision. By default, that is its caller's; with a
// ratio, it is not, and none of a ratio of 0 is recorded. Headers that break the rules count as
// none, and a long tracestate is not passed on.
func TestSampling(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for _, row := range []struct {
		why, sampler, argument, parent, state string
		recorded, joined                      bool
	}{
		{"a caller that records", "", "", "00-" + id + "-b7ad6b7169203331-01", "shop=1", true, true},
		{"a caller that does not", "", "", "00-" + id + "-b7ad6b7169203331-00", "", false, true},
		{"no caller", "", "", "", "", true, false},
		{"a caller may not force what a ratio decides", "traceidratio", "0", "00-" + id + "-b7ad6b7169203331-01", "", false, true},
		{"a ratio of all", "traceidratio", "1", "00-" + id + "-b7ad6b7169203331-00", "", true, true},
		{"a caller is recorded in any case", "always_on", "", "00-" + id + "-b7ad6b7169203331-00", "", true, true},
		{"half a header", "", "", "00-" + id, "", true, false},
		{"zeros", "", "", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "", true, false},
		{"a megabyte", "", "", strings.Repeat("0", 1<<20), "", true, false},
		{"a long state", "", "", "00-" + id + "-b7ad6b7169203331-01", "shop=" + strings.Repeat("1", 600), true, true},
		{"a broken state", "", "", "00-" + id + "-b7ad6b7169203331-01", "shop=\x00,,=", true, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			if row.sampler != "" {
				t.Setenv("OTEL_TRACES_SAMPLER", row.sampler)
				t.Setenv("OTEL_TRACES_SAMPLER_ARG", row.argument)
			}
			receiver := otlptest.Start(t)
			traces := start(t, receiver.URL, &commenttest.Transcript{})
			header := http.Header{}
			if row.parent != "" {
				header["Traceparent"], header["Tracestate"] = []string{row.parent}, []string{row.state}
			}
			ctx := usage.JoinTrace(t.Context(), header)
			if (usage.TraceID(ctx) == id) != row.joined {
				t.Errorf("part of the trace %q", usage.TraceID(ctx))
			}
			request(ctx, traces.Tracer())
			traces.Stop()
			got := receiver.Spans("")
			if (len(got) == 4) != row.recorded || !row.recorded && len(got) > 0 {
				t.Fatalf("%d spans", len(got))
			}
			if row.recorded && (got[3].Trace == id) != row.joined {
				t.Errorf("recorded in the trace %s", got[3].Trace)
			}
			if short := len(row.state) > 0 && len(row.state) < 10 && !strings.Contains(row.state, ","); strings.Contains(receiver.Raw(), "shop=1") != short {
				t.Errorf("the state %q is passed on: %v", row.state, !short)
			}
			if row.recorded && !strings.Contains(receiver.Raw(), "v1.2.3") {
				t.Error("the spans do not say which version made them")
			}
		})
	}
}

// An endpoint that refuses, or takes a connection and never answers, holds up no request: all end
// while it hangs. Its spans take a bounded memory. At the end, nothing waits for it for long.
func TestEndpointInTrouble(t *testing.T) {
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_ = closed.Close()
	released := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(released) })
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200") // milliseconds
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "200")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2048") // all that waits
	for why, endpoint := range map[string]string{"refuses": "http://" + closed.Addr().String(), "hangs": hangs.URL} {
		var log commenttest.Transcript
		traces := start(t, endpoint, &log)
		tracer := traces.Tracer()
		before := heap()
		for range 5000 {
			request(t.Context(), tracer)
		}
		if grown := heap() - before; grown > 16<<20 {
			t.Errorf("%s: 20,000 spans hold %d bytes", why, grown)
		}
		traces.Stop()
		if said := strings.Count(log.String(), "traces cannot be sent by OTLP"); said != 1 {
			t.Errorf("%s: said %d times: %s", why, said, log.String())
		}
	}
}

// endpoint answers each request with a text, and keeps the connection.
func endpoint(t *testing.T, answer string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Of an endpoint that answers with a long page, little is in the log.
func TestEndpointWithALongPage(t *testing.T) {
	var log commenttest.Transcript
	traces := start(t, endpoint(t, "HTTP/1.1 400 No\r\nContent-Length: 1048576\r\n\r\n"+strings.Repeat("page", 1<<18)), &log)
	metrics := must.Get(telemetry.Start(t.Context(), telemetry.Settings{Environment: os.LookupEnv, Logger: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	request(t.Context(), traces.Tracer())
	traces.Flush(t.Context())
	_ = metrics.Stop(t.Context()) // what fails is logged
	if text := log.String(); len(text) > 2000 || strings.Count(text, "400 No") != 2 {
		t.Errorf("the log has %d bytes: %.500s", len(text), text)
	}
}

// The end comes, also when an endpoint switches protocols, and the exporter reads on without a
// timeout.
func TestEndpointWithAnotherProtocol(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint(t, "HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n"))
	metrics := must.Get(telemetry.Start(t.Context(), telemetry.Settings{Environment: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := metrics.Stop(ctx); err == nil {
		t.Error("something was sent")
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
