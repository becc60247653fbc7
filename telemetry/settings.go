package telemetry

import (
	"log/slog"

	sdk "go.opentelemetry.io/otel/sdk/metric"
)

// Reader collects metrics.
type Reader = sdk.Reader

// Settings say where metrics go.
type Settings struct {
	// Version is that of the program.
	Version string
	// Environment looks up a variable, as os.LookupEnv does. Required.
	Environment func(name string) (value string, set bool)
	// Readers collect metrics, besides OTLP.
	Readers []Reader
	// Logger gets failures of exports. Required.
	Logger *slog.Logger
}
