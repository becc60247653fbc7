package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/talkback/talkback/internal/usage"
)

// flushTimeout bounds the sending of remaining spans at the end.
const flushTimeout = 5 * time.Second

// Bounds of one span. Ours stay below them.
const (
	maxSpanAttributes = 32
	maxSpanBytes      = 256
)

// Traces sends spans by OTLP over HTTP. A nil Traces sends none.
type Traces struct {
	provider *trace.TracerProvider
	log      *slog.Logger
}

// StartTraces begins to send spans as the OTEL_ variables of an environment say. It returns nil if
// they ask for none. An error names the variable and the cure. The caller calls Stop at the end.
//
// Spans wait in a queue of OpenTelemetry's SDK, at most OTEL_BSP_MAX_QUEUE_SIZE. While it is full,
// because the endpoint takes none, further spans are dropped: no request waits.
func StartTraces(ctx context.Context, version string, environment func(string) (string, bool), log *slog.Logger) (*Traces, error) {
	wanted, err := Wanted(environment, "TRACES")
	if err != nil || !wanted {
		return nil, err
	}
	if err := checkSampler(environment); err != nil {
		return nil, err
	}
	described, err := resourceOf(ctx, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces cannot be sent by OTLP (%w): correct the variables OTEL_EXPORTER_OTLP_…", err)
	}
	limits := trace.NewSpanLimits()
	limits.AttributeCountLimit, limits.AttributeValueLengthLimit = maxSpanAttributes, maxSpanBytes
	failed := &failures{warn: func(err error) {
		log.Warn("traces cannot be sent by OTLP; later ones are tried", "error", err)
	}}
	return &Traces{log: log, provider: trace.NewTracerProvider(
		trace.WithResource(described), trace.WithBatcher(loggedSpans{exporter, failed}), trace.WithRawSpanLimits(limits),
	)}, nil
}

// Tracer returns the tracer that begins traces, nil if none are sent.
func (t *Traces) Tracer() *usage.Tracer {
	if t == nil {
		return nil
	}
	return usage.NewTracer(t.provider)
}

// Flush sends the spans that have ended, until the context ends.
func (t *Traces) Flush(ctx context.Context) {
	if t != nil {
		_ = t.provider.ForceFlush(ctx) // what fails is logged already
	}
}

// Stop sends the remaining spans, for a few seconds at most, and ends.
func (t *Traces) Stop() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("some spans were not sent at the end", "error", err)
	}
}

// samplers are the values of OTEL_TRACES_SAMPLER that OpenTelemetry's SDK knows.
var samplers = []string{
	"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

// checkSampler refuses a sampler that the SDK does not know: it would record everything instead.
func checkSampler(environment func(string) (string, bool)) error {
	value, _ := environment("OTEL_TRACES_SAMPLER")
	name := strings.ToLower(strings.TrimSpace(value))
	if name == "" {
		return nil
	}
	if !slices.Contains(samplers, name) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER=%s is not known: use one of %s", value, strings.Join(samplers, ", "))
	}
	text, set := environment("OTEL_TRACES_SAMPLER_ARG")
	if !set || !strings.HasSuffix(name, "ratio") {
		return nil
	}
	if ratio, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s is not a ratio: give a number from 0 to 1, such as 0.01", text)
	}
	return nil
}

// loggedSpans is an exporter whose failures go to the log.
type loggedSpans struct {
	trace.SpanExporter
	failures *failures
}

// ExportSpans implements [trace.SpanExporter].
func (l loggedSpans) ExportSpans(ctx context.Context, ended []trace.ReadOnlySpan) error {
	l.failures.note(l.SpanExporter.ExportSpans(ctx, ended))
	return nil
}

// flushWithin bounds how much longer an invocation takes for its telemetry.
const flushWithin = time.Second

// Flush sends traces and metrics at the same time, for a second at most. Call it before a process
// is frozen. Nil traces and metrics send nothing.
func Flush(ctx context.Context, traces *Traces, metrics *Metrics) {
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	var sending sync.WaitGroup // what fails is logged
	sending.Go(func() { traces.Flush(ctx) })
	if metrics != nil {
		sending.Go(func() { _ = metrics.provider.ForceFlush(ctx) })
	}
	sending.Wait()
}
