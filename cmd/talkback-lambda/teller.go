package main

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/events"

	"github.com/talkback/talkback/telemetry"
)

// invoke is the function that Lambda calls with the records of an event.
type invoke func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// teller sends metrics and traces by OTLP. The zero teller sends nothing.
type teller struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
}

func startTelemetry(ctx context.Context, environment func(string) (string, bool), logger *slog.Logger) (t teller, err error) {
	var version string
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	if t.traces, err = telemetry.StartTraces(ctx, version, environment, logger); err != nil {
		return teller{}, err
	}
	t.metrics, err = telemetry.Start(ctx, telemetry.Settings{Version: version, Environment: environment, Logger: logger})
	return t, err
}

// after returns a function that sends metrics and traces before it returns. Between two
// invocations, the process is frozen.
func (t teller) after(invoke invoke) invoke {
	if t == (teller{}) {
		return invoke
	}
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		response, err := invoke(ctx, event)
		telemetry.Flush(ctx, t.traces, t.metrics) // the report to Lambda comes after it, for which there are two seconds
		return response, err
	}
}
