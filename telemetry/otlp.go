package telemetry

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// otlp returns a reader that sends metrics by OTLP, nil unless the variables ask for it. Where to,
// how often and with which headers are read from the standard variables by OpenTelemetry itself.
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
	protocol := value("OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL")
	if protocol == "" {
		protocol = value("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("OTLP over %s is not spoken here: set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf, or unset it", protocol)
	}
	return true, nil
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

// failures logs the failures of an exporter once for each series of them. OpenTelemetry would hand
// them to a handler that all servers of a process share.
type failures struct {
	warn func(error) // writes to the log of this server

	mu     sync.Mutex
	failed bool
}

// note notes how sending ended.
func (f *failures) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !f.failed {
		f.warn(err)
	}
	f.failed = err != nil
}
