// Package telemetry tells people and machines how a process fares: its metrics in Prometheus' format
// and by OTLP, and the profiles of Go's runtime.
//
// OpenTelemetry is what measures. Packages that have something to tell take a small interface of
// their own, which types here implement; the commands plug the two together. Nothing is global: two
// servers in one process measure apart. Nothing is measured unless someone asks for it, by an
// address to listen on or by the OTEL_ variables.
package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// mostSeries bounds the series of each instrument. The values of attributes are closed lists, so
// fewer occur; beyond it, OpenTelemetry adds up what is left in one series.
const mostSeries = 1000

// Metrics measures what a process does.
type Metrics struct {
	// Requests are those of clients.
	Requests *Requests
	// Table is the table, Pages how pages are read, Stream how the table's stream is.
	Table  *Table
	Pages  *Pages
	Stream *Stream
	// Hooks are deliveries to hooks.
	Hooks *Hooks

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
	return newMetrics(provider), nil
}

func newMetrics(provider *sdk.MeterProvider) *Metrics {
	all := meters{provider.Meter("github.com/talkback/talkback")}
	began := time.Now()
	all.gauge("process.uptime", func() (float64, bool) { return time.Since(began).Seconds(), true })
	return &Metrics{
		Requests: newRequests(all), Table: newTable(all), Pages: newPages(all), Stream: newStream(all), Hooks: newHooks(all),
		meters: all, provider: provider,
	}
}

// Flush sends what was measured so far. It is for a process that stands still afterwards. What fails
// is logged. A nil Metrics sends nothing.
func (m *Metrics) Flush(ctx context.Context) {
	if m != nil {
		_ = m.provider.ForceFlush(ctx) // what fails is logged already
	}
}

// Stop sends what was not sent yet, and ends measuring. Nothing is sent beyond the context.
func (m *Metrics) Stop(ctx context.Context) error { return m.provider.Shutdown(ctx) }

// instance tells this process from others of its service, which may send to the same place: without
// it, their metrics would be mixed up. It is the same for all that this process tells.
var instance = rand.Text()

// resourceOf describes this process: the service with its version and instance, and what
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, which wins.
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
