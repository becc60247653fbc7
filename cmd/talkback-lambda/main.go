// Command talkback-lambda is a function of AWS Lambda. By default, and with
// TALKBACK_FUNCTION=count, it counts comments, from the events that Lambda makes of the table's
// stream. TALKBACK_TABLE then names the table; the default is comments. TALKBACK_PAGES says where
// page numbers are stored, as for talkback serve; the default is the table. With
// TALKBACK_FUNCTION=api it answers HTTP requests as talkback serve does, and reads the same
// variables. It uses the region and credentials of the function. The OTEL_ variables say where to
// send traces and metrics; by default, it sends none.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/httpapi/gateway"
	"github.com/talkback/talkback/pageindex/keeper"
	pagetable "github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
	"github.com/talkback/talkback/telemetry"
)

func main() {
	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	function, err := newFunctionOfEnvironment(context.Background(), logger)
	if err != nil {
		logger.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start(function)
}

func newFunctionOfEnvironment(ctx context.Context, logger *slog.Logger) (any, error) {
	switch name, set := os.LookupEnv("TALKBACK_FUNCTION"); {
	case name == "api":
		function, err := command.NewFunction(ctx, command.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Logger: logger, LogsJSON: true})
		if err != nil {
			return nil, err
		}
		return api{gateway.New(function, logger), function.Flush}, nil
	case set && name != "count":
		return nil, fmt.Errorf("TALKBACK_FUNCTION is %.20q: give count, which is the default, or api", name)
	}
	client, err := call.NewAWSClient(ctx)
	if err != nil {
		return nil, err
	}
	table, err := tableName(os.LookupEnv("TALKBACK_TABLE"))
	if err != nil {
		return nil, err
	}
	pages, err := pagesTarget(os.LookupEnv("TALKBACK_PAGES"))
	if err != nil {
		return nil, err
	}
	sent, err := startTelemetry(ctx, os.LookupEnv, logger)
	if err != nil {
		return nil, err
	}
	return newFunction(ctx, client, table, pages, sent, logger)
}

// newFunction makes a function that counts the comments of a table, and feeds the store of its page
// numbers. A store that does not answer is opened later. A table of another layout is an error.
func newFunction(ctx context.Context, client *dynamodb.Client, table string, pages keeper.Target, sent signals, logger *slog.Logger) (invoke, error) {
	if sent.traces != nil {
		client = call.Traced(client, table)
	}
	if sent.metrics != nil {
		client = call.Observed(client, sent.metrics.Table)
	}
	if err := dynamo.CheckLayout(ctx, client, table); err != nil {
		return nil, err
	}
	numbers := call.For(client, call.ForPageNumbers)
	feed, err := keeper.Open(ctx, pages, numbers, table, keeper.Options{Who: "talkback-lambda", Logger: logger})
	if err != nil {
		return nil, err
	}
	options := counts.CounterOptions{Feed: feed, Logger: logger, Patience: counts.Patience}
	if pages.Name == keeper.InTable {
		options.Pages = pagetable.New(numbers, table)
	}
	counter := counts.NewCounter(call.For(client, call.ForCounting), table, options)
	journal := leases.NewLeases(call.For(client, call.ForLeases), table)
	batches := outbox.New(call.For(client, call.ForOutbox), table).After(func(ctx context.Context, records []stream.Record) error {
		err := counter.Handle(ctx, records)
		counter.AwaitMerges(ctx) // between two invocations, the process is frozen
		return err
	})
	var observer stream.Observer
	if sent.metrics != nil {
		observer = sent.metrics.Stream
	}
	// The function writes no comments, so no batch is linked to a write.
	batches = stream.Traced(batches, sent.traces.Tracer(), nil)
	counting := stream.NewFunction(table, batches, journal, logger, observer)
	return func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		response, err := counting.Invoke(ctx, event)
		if sent != (signals{}) {
			telemetry.Flush(ctx, sent.traces, sent.metrics) // the report to Lambda comes after it, for which there are two seconds
		}
		return response, err
	}, nil
}

// invoke is the function that Lambda calls with the records of an event.
type invoke func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// signals are the metrics and traces that are sent by OTLP; the zero value is for none. They are
// sent before an invocation returns: between two invocations, the process is frozen.
type signals struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
}

func startTelemetry(ctx context.Context, environment func(string) (string, bool), logger *slog.Logger) (s signals, err error) {
	var version string
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	if s.traces, err = telemetry.StartTraces(ctx, version, environment, logger); err != nil {
		return signals{}, err
	}
	s.metrics, err = telemetry.Start(ctx, telemetry.Settings{Version: version, Environment: environment, Logger: logger})
	return s, err
}

// tableName returns the table that the variable names, or the default one if the variable is not
// set.
func tableName(value string, set bool) (string, error) {
	switch {
	case !set:
		return layout.DefaultTable, nil
	case strings.TrimSpace(value) == "":
		return "", errors.New("TALKBACK_TABLE is set but empty: give it the table's name, or unset it for " + layout.DefaultTable)
	}
	return value, nil
}

// pagesTarget returns the store of page numbers that the variable names; the table if it is not
// set. It refuses files and folders, which belong to one machine.
func pagesTarget(value string, set bool) (keeper.Target, error) {
	if !set {
		value = keeper.InTable
	}
	target, err := keeper.Parse(value, keeper.Networked())
	if err != nil {
		return target, errors.New(strings.ReplaceAll(comment.MessageOf(err), "--pages", "TALKBACK_PAGES"))
	}
	return target, nil
}

// api is the function that answers HTTP requests. It implements lambda.Handler.
type api struct {
	gateway *gateway.Gateway
	flush   func(context.Context)
}

// sendWithin is the part of an invocation's time that is reserved for sending the answer to Lambda.
const sendWithin = 200 * time.Millisecond

// Invoke answers an event. It sends metrics and traces before it returns.
func (a api) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	answer, err := a.gateway.Invoke(ctx, payload)
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-sendWithin))
		defer cancel()
	}
	a.flush(ctx)
	return answer, err
}
