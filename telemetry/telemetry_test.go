package telemetry_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/otlptest"
	"github.com/talkback/talkback/telemetry"
)

// environmentOf is an environment with these variables alone.
func environmentOf(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

// startMetrics begins to measure for readers, with the variables that are given.
func startMetrics(t *testing.T, variables map[string]string, readers ...telemetry.Reader) (*telemetry.Metrics, error) {
	t.Helper()
	return telemetry.Start(t.Context(), telemetry.Settings{Environment: environmentOf(variables), Logger: slog.New(slog.DiscardHandler), Readers: readers})
}

// Nothing is measured or traced unless someone asks for it, and what cannot be is said, with the
// cure. Both signals have the same variables, but for their names.
func TestWhoAsks(t *testing.T) {
	starts := map[string]func(variables map[string]string) (started bool, err error){
		"METRICS": func(variables map[string]string) (bool, error) {
			m, err := startMetrics(t, variables)
			if m != nil {
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // nobody listens
				_ = m.Stop(ctx)
			}
			return m != nil, err
		},
		"TRACES": func(variables map[string]string) (bool, error) {
			traces, err := telemetry.StartTraces(t.Context(), "v1", environmentOf(variables), slog.New(slog.DiscardHandler))
			traces.Stop()
			return traces != nil, err
		},
	}
	const endpoint, local = "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"
	for _, row := range []struct {
		why       string
		variables map[string]string
		starts    bool
		says      string
	}{
		{"no variable", nil, false, ""},
		{"a name alone", map[string]string{"OTEL_SERVICE_NAME": "comments"}, false, ""},
		{"an endpoint", map[string]string{endpoint: local}, true, ""},
		{"an endpoint for it", map[string]string{"OTEL_EXPORTER_OTLP_SIGNAL_ENDPOINT": local}, true, ""},
		{"one for the other alone", map[string]string{"OTEL_EXPORTER_OTLP_OTHER_ENDPOINT": local}, false, ""},
		{"the exporter, at its default address", map[string]string{"OTEL_SIGNAL_EXPORTER": "otlp"}, true, ""},
		{"it is off", map[string]string{endpoint: local, "OTEL_SIGNAL_EXPORTER": "none"}, false, ""},
		{"all is off", map[string]string{endpoint: local, "OTEL_SDK_DISABLED": "true"}, false, ""},
		{"an exporter that nobody wrote", map[string]string{"OTEL_SIGNAL_EXPORTER": "statsd"}, false, "OTEL_SIGNAL_EXPORTER=statsd is not known: use otlp or none"},
		{"a protocol that is not spoken", map[string]string{endpoint: local, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "OTLP over grpc is not spoken here: set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf"},
		{"headers", map[string]string{endpoint: local, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, a.b=,"}, true, ""},
	} {
		for signal, other := range map[string]string{"METRICS": "TRACES", "TRACES": "METRICS"} {
			named := strings.NewReplacer("SIGNAL", signal, "OTHER", other)
			variables := map[string]string{}
			for name, value := range row.variables {
				variables[named.Replace(name)] = value
			}
			started, err := starts[signal](variables)
			if started != row.starts || (err != nil) != (row.says != "") || err != nil && !strings.Contains(err.Error(), named.Replace(row.says)) {
				t.Errorf("%s: %s start: %v, %v", row.why, signal, started, err)
			}
		}
	}
}

// Metrics are sent with the name of the service and which of its processes they are of.
func TestSent(t *testing.T) {
	receiver := otlptest.Start(t)
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.URL, "OTEL_SERVICE_NAME": "comments-of-the-shop", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
	} {
		t.Setenv(name, value) // the exporter reads them itself
	}
	m := must.Get(startMetrics(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.URL}))(t)
	m.Requests.Answered(t.Context(), telemetry.Operation{Type: "query", Outcome: "ok"})
	m.Table.Read("all", "PAGE", 2.5)
	must.Do(t, m.Stop(t.Context()))
	for _, name := range []string{
		"talkback.operations", "talkback.operation.duration", "talkback.table.read_units", "process.uptime", "go.goroutine.count",
		"comments-of-the-shop", "deployment.environment.name", "service.instance.id",
	} {
		if !strings.Contains(receiver.Raw(), name) {
			t.Errorf("%s was not sent", name)
		}
	}
}

// A status is a number, as OpenTelemetry's conventions have it: backends compare it with 500.
func TestStatusIsANumber(t *testing.T) {
	reader := sdk.NewManualReader()
	m := must.Get(startMetrics(t, nil, reader))(t)
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

// Measuring a request, with two calls to the table, allocates nothing but the text of its status.
func TestMeasuringAllocatesNextToNothing(t *testing.T) {
	m := must.Get(startMetrics(t, nil, sdk.NewManualReader()))(t)
	measure := func() {
		measureRequest(t, m)
		m.Pages.CacheLookup("statistics", true)
	}
	measure()
	if got := testing.AllocsPerRun(100, measure); got > 1 {
		t.Errorf("a request takes %v allocations more", got)
	}
}
