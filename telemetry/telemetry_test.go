package telemetry_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/telemetry"
)

// startMetrics begins to measure for a reader, nil for none, with the variables that are given.
func startMetrics(t *testing.T, reader telemetry.Reader, variables map[string]string) (*telemetry.Metrics, error) {
	t.Helper()
	s := telemetry.Settings{
		Environment: func(name string) (string, bool) { value, set := variables[name]; return value, set },
		Logger:      slog.New(slog.DiscardHandler),
	}
	if reader != nil {
		s.Readers = []telemetry.Reader{reader}
	}
	return telemetry.Start(t.Context(), s)
}

// Nothing is measured unless someone asks for it, and what cannot be is said.
func TestWhoAsks(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, row := range []struct {
		why       string
		variables map[string]string
		measures  bool
		says      string
	}{
		{"no variable", nil, false, ""},
		{"an endpoint", map[string]string{endpoint: "http://127.0.0.1:1"}, true, ""},
		{"an endpoint for metrics", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1/v1/metrics"}, true, ""},
		{"one for traces alone", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, false, ""},
		{"the exporter, at its default address", map[string]string{"OTEL_METRICS_EXPORTER": "otlp"}, true, ""},
		{"metrics are off", map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_METRICS_EXPORTER": "none"}, false, ""},
		{"all is off", map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false, ""},
		{"an exporter that nobody wrote", map[string]string{"OTEL_METRICS_EXPORTER": "statsd"}, false, "OTEL_METRICS_EXPORTER=statsd is not known"},
		{"a protocol that is not spoken", map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "http/protobuf"},
		{"headers", map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, a.b=,"}, true, ""},
	} {
		m, err := startMetrics(t, nil, row.variables)
		if (m != nil) != row.measures || (err != nil) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: measures: %v, %v", row.why, m != nil, err)
		}
		if m != nil {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // nobody listens
			_ = m.Stop(ctx)
		}
	}
}

// receiver takes metrics by OTLP.
type receiver struct {
	mu    sync.Mutex
	names map[string]bool
	about string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	raw, _ := io.ReadAll(body)
	var got collector.ExportMetricsServiceRequest
	if err := proto.Unmarshal(raw, &got); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range got.ResourceMetrics {
		r.about = fmt.Sprint(of.Resource.Attributes)
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				r.names[m.Name] = true
			}
		}
	}
}

// Metrics are sent by OTLP to where the variables say, under the name that they give to the process;
// the last ones at its end.
func TestOTLP(t *testing.T) {
	got := &receiver{names: map[string]bool{}}
	server := httptest.NewServer(got)
	defer server.Close()
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_SERVICE_NAME": "comments-of-the-shop", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
	} {
		t.Setenv(name, value) // the exporter reads them itself
	}
	m, err := startMetrics(t, nil, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	m.Requests.Answered(t.Context(), telemetry.Operation{Type: "query", Outcome: "ok"})
	m.Table.Read("all", "PAGE", 2.5)
	must.Do(t, m.Stop(t.Context()))
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, name := range []string{"talkback.operations", "talkback.operation.duration", "talkback.table.read_units", "process.uptime", "go.goroutine.count"} {
		if !got.names[name] {
			t.Errorf("%s was not sent, of %v", name, got.names)
		}
	}
	if !strings.Contains(got.about, "comments-of-the-shop") || !strings.Contains(got.about, "deployment.environment.name") || !strings.Contains(got.about, "service.instance.id") {
		t.Errorf("metrics are of %s", got.about)
	}
}

// Whatever clients send, series do not become more than the table of instruments allows.
func TestSeriesAreBounded(t *testing.T) {
	reader := sdk.NewManualReader()
	m := must.Get(startMetrics(t, reader, nil))(t)
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		if random.IntN(3) == 0 {
			return []string{"GET", "http", "/graphql", "query", "ok", "Query", "all", "PAGE"}[random.IntN(8)]
		}
		return fmt.Sprint("word ", random.Uint64())
	}
	for range 5000 {
		m.Requests.Began(t.Context(), word(), word())
		m.Requests.Ended(t.Context(), word(), word(), word(), random.Int(), time.Second)
		m.Requests.Answered(t.Context(), telemetry.Operation{Type: word(), Outcome: word(), Code: word(), Refused: word(), Units: 1, EstimatedUnits: 1})
		m.Table.Tried(word(), random.IntN(3), word(), time.Second)
		m.Table.Throttled(word())
		m.Table.Read(word(), word(), 1)
		m.Table.Wrote(word(), word(), 1)
		m.Pages.CacheLookup(word(), true)
		m.Pages.Batched(word(), 1)
	}
	var all metricdata.ResourceMetrics
	must.Do(t, reader.Collect(t.Context(), &all))
	series := 0
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				series += len(data.DataPoints)
			case metricdata.Sum[float64]:
				series += len(data.DataPoints)
			case metricdata.Histogram[float64]:
				series += len(data.DataPoints)
			}
		}
	}
	if series > 150 {
		t.Errorf("random requests made %d series", series)
	}
}

// A status is a number, as OpenTelemetry's conventions have it: backends compare it with 500.
func TestStatusIsANumber(t *testing.T) {
	reader := sdk.NewManualReader()
	m := must.Get(startMetrics(t, reader, nil))(t)
	m.Requests.Ended(t.Context(), "GET", "http", "/graphql", 200, time.Second)
	var all metricdata.ResourceMetrics
	must.Do(t, reader.Collect(t.Context(), &all))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if data, is := m.Data.(metricdata.Histogram[float64]); is && m.Name == "http.server.request.duration" {
				status, _ := data.DataPoints[0].Attributes.Value("http.response.status_code")
				if status.Type() != attribute.INT64 || status.AsInt64() != 200 {
					t.Errorf("the status is %v", status)
				}
				return
			}
		}
	}
	t.Error("no request was measured")
}

// Measuring a request, with three calls to the table, allocates nothing but the text of its status.
func TestMeasuringAllocatesNextToNothing(t *testing.T) {
	m := must.Get(startMetrics(t, sdk.NewManualReader(), nil))(t)
	measure := func() {
		m.Requests.Began(context.Background(), "POST", "http")
		for range 3 {
			m.Table.Tried("Query", 1, "", time.Millisecond)
			m.Table.Read("byRating", "PAGE", 1.5)
		}
		m.Pages.PageRead(true, 2, 2.5, 1)
		m.Pages.CacheLookup("statistics", true)
		m.Requests.Ended(context.Background(), "POST", "http", "/graphql", 200, time.Millisecond)
		m.Requests.Answered(context.Background(), telemetry.Operation{Type: "query", Outcome: "ok", Units: 2.5, EstimatedUnits: 4})
	}
	measure()
	if got := testing.AllocsPerRun(100, measure); got > 1 {
		t.Errorf("a request takes %v allocations more", got)
	}
}
