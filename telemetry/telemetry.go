// Package telemetry exports the metrics of a process in Prometheus' format and by OTLP, its traces
// by OTLP, and the profiles of Go's runtime.
//
// OpenTelemetry measures. Packages with something to measure define a small interface, which types
// here implement; the commands connect the two. Nothing is global: two servers in one process
// measure separately. Nothing is measured unless an address to listen on or the OTEL_ variables ask
// for it.
package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"golang.org/x/net/http/httpguts"

	"github.com/talkback/talkback/internal/task"
)

// mostSeries bounds the series of each instrument. The values of attributes are closed lists, so
// fewer occur; beyond it, OpenTelemetry adds up the others in one series.
const mostSeries = 1000

// Metrics measures what a process does.
type Metrics struct {
	Requests *Requests
	// Table measures calls to the table, Pages how pages are read, and Stream how the table's stream
	// is read.
	Table  *Table
	Pages  *Pages
	Stream *Stream
	Hooks  *Hooks

	meters   meters
	provider *sdk.MeterProvider
}

// Start begins to measure. It returns nil if nobody asks for metrics: there are no Readers, and the
// OTEL_ variables ask for none. An error says which variable is wrong.
func Start(ctx context.Context, s Settings) (*Metrics, error) {
	readers := s.Readers
	pushed, err := otlp(ctx, s)
	if err != nil {
		return nil, err
	}
	if pushed != nil {
		readers = append(readers, pushed)
	}
	if len(readers) == 0 {
		return nil, nil
	}
	described, err := resourceOf(ctx, s.Version)
	if err != nil {
		return nil, err
	}
	options := []sdk.Option{sdk.WithResource(described), sdk.WithCardinalityLimit(mostSeries)}
	for _, reader := range readers {
		options = append(options, sdk.WithReader(reader))
	}
	provider := sdk.NewMeterProvider(options...)
	if err := runtime.Start(runtime.WithMeterProvider(provider)); err != nil {
		return nil, errors.Join(err, provider.Shutdown(ctx))
	}
	all := newMeters(provider.Meter("github.com/talkback/talkback"))
	m := &Metrics{
		Requests: &Requests{all}, Table: &Table{all}, Pages: &Pages{all}, Stream: &Stream{all}, Hooks: &Hooks{all},
		meters: all, provider: provider,
	}
	began := time.Now()
	m.Watch("process.uptime", func() (float64, bool) { return time.Since(began).Seconds(), true })
	return m, nil
}

// Stop sends the remaining measurements, and ends measuring. It waits no longer than the context:
// the exporter reads without a timeout when its endpoint switches protocols.
func (m *Metrics) Stop(ctx context.Context) error {
	_, err := task.Await(ctx, func() (any, error) { return nil, m.provider.Shutdown(ctx) })
	return err
}

// Watch exports a gauge, or one of its series by the values of its attributes. read is called
// whenever metrics are collected. It returns false while there is no value. Call it once for each
// series.
func (m *Metrics) Watch(gauge string, read func() (value float64, known bool), of ...string) {
	m.WatchAll(gauge, func(show func(float64, ...string)) {
		if value, known := read(); known {
			show(value, of...)
		}
	})
}

// WatchAll exports all series of a gauge. read calls show for each, with the values of its
// attributes.
func (m *Metrics) WatchAll(gauge string, read func(show func(value float64, of ...string))) {
	row := m.meters.row(gauge, Gauge)
	known := newSeries(row.Attributes)
	must(m.meters.Float64ObservableGauge(gauge, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			read(func(value float64, of ...string) {
				var v values
				copy(v[:], of)
				o.Observe(value, known.of(v).observe...)
			})
			return nil
		})))
}

// WatchCounter exports a counter whose value read returns.
func (m *Metrics) WatchCounter(counter string, read func() int64) {
	row := m.meters.row(counter, Counter)
	must(m.meters.Int64ObservableCounter(counter, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(read())
			return nil
		})))
}

// instance identifies this process among those of its service, which may send to the same place:
// without it, their metrics would be mixed up. Metrics and traces have the same one.
var instance = rand.Text()

// resourceOf describes this process: the service with its version and instance, and the values of
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, which win.
func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	made, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "talkback"), attribute.String("service.version", version),
			attribute.String("service.instance.id", instance)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if errors.Is(err, resource.ErrPartialResource) {
		err = nil
	}
	return made, err
}

// Reader collects metrics.
type Reader = sdk.Reader

// Settings say where metrics go.
type Settings struct {
	Version string
	// Environment looks up a variable, as os.LookupEnv does. Required.
	Environment func(name string) (value string, set bool)
	// Readers collect metrics, besides OTLP.
	Readers []Reader
	// Logger receives failures of exports. Required.
	Logger *slog.Logger
}

// otlp returns a reader that sends metrics by OTLP, nil unless the variables ask for it.
// OpenTelemetry itself reads the address, the interval and the headers from the standard variables.
func otlp(ctx context.Context, s Settings) (sdk.Reader, error) {
	wanted, err := Wanted(s.Environment, "METRICS")
	if err != nil || !wanted {
		return nil, err
	}
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics cannot be sent by OTLP (%w): correct the variables OTEL_EXPORTER_OTLP_…", err)
	}
	failed := &failures{warn: func(err error) {
		s.Logger.Warn("metrics cannot be sent by OTLP; later ones are tried", "error", err)
	}}
	return sdk.NewPeriodicReader(logged{exporter, failed}), nil
}

// Wanted reports whether the standard variables ask for a signal, METRICS or TRACES, to be sent by
// OTLP: OTEL_METRICS_EXPORTER says so, or there is an endpoint. Without either, nothing is sent.
func Wanted(environment func(string) (string, bool), signal string) (bool, error) {
	value := func(name string) string {
		text, _ := environment(name)
		return strings.TrimSpace(text)
	}
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	exporter := "OTEL_" + signal + "_EXPORTER"
	switch name := value(exporter); name {
	case "none":
		return false, nil
	case "otlp":
	case "":
		if value("OTEL_EXPORTER_OTLP_ENDPOINT")+value("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") == "" {
			return false, nil
		}
	default:
		return false, fmt.Errorf("%s=%s is not known: use otlp or none", exporter, name)
	}
	protocol := cmp.Or(value("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL"), value("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("OTLP over %s is not spoken here: set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf, or unset it", protocol)
	}
	for _, of := range []string{"", signal + "_"} {
		endpoint, headers := "OTEL_EXPORTER_OTLP_"+of+"ENDPOINT", "OTEL_EXPORTER_OTLP_"+of+"HEADERS"
		// For an address that it cannot read, OpenTelemetry sends to its default address, and writes the
		// one with its password to standard error. A "/", "?" or "#" in a password ends the host, and
		// errors would show the rest of the password.
		if address, err := url.Parse(value(endpoint)); value(endpoint) != "" && (err != nil || address.Host == "" || address.User == nil && strings.Contains(value(endpoint), "@")) {
			return false, fmt.Errorf("%s is not an address: give one such as http://localhost:4318", endpoint)
		}
		if text := value(headers); text != "" && !areHeaders(text) {
			return false, fmt.Errorf("%s cannot be read: give NAME=VALUE, of several with commas between them, and percent-encode what stands in values", headers)
		}
	}
	return true, nil
}

// areHeaders reports whether OpenTelemetry can read headers. It skips those that it cannot read,
// and writes them to standard error, though one may be a token.
func areHeaders(text string) bool {
	for header := range strings.SplitSeq(strings.TrimRight(text, ", "), ",") {
		name, value, found := strings.Cut(header, "=")
		_, err := url.PathUnescape(value)
		if !found || err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}

// logged is an exporter whose failures go to the log.
type logged struct {
	sdk.Exporter
	failures *failures
}

// Export implements [sdk.Exporter].
func (l logged) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	l.failures.note(l.Exporter.Export(ctx, data))
	return nil
}

// failures logs the first of successive failures of an exporter. OpenTelemetry would hand them to a
// handler that all servers of a process share.
type failures struct {
	warn func(error) // writes to the log of this server

	mu     sync.Mutex
	failed bool
}

// maxFailure bounds the logged text of a failure, in bytes: its error may hold a whole answer.
const maxFailure = 500

// note takes the result of sending, and logs the first of successive errors.
func (f *failures) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !f.failed {
		text := err.Error()
		f.warn(errors.New(strings.ToValidUTF8(text[:min(len(text), maxFailure)], "")))
	}
	f.failed = err != nil
}
