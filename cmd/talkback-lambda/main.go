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
	"strings"
	"time"

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
	tell, err := startTelemetry(ctx, os.LookupEnv, logger)
	if err != nil {
		return nil, err
	}
	return newFunction(ctx, client, table, pages, tell, logger)
}

// newFunction makes a function that counts the comments of a table, and feeds the store of its page
// numbers. A store that does not answer is opened later. A table of another layout is an error.
func newFunction(ctx context.Context, client *dynamodb.Client, table string, pages keeper.Target, tell teller, logger *slog.Logger) (invoke, error) {
	if tell.traces != nil {
		client = call.Traced(client, table)
	}
	if tell.metrics != nil {
		client = call.Observed(client, tell.metrics.Table)
	}
	if err := dynamo.CheckLayout(ctx, client, table); err != nil {
		return nil, err
	}
	numbers := call.For(client, call.ForPageNumbers)
	feed, err := keeper.Open(ctx, pages, numbers, table, keeper.Options{Who: "talkback-lambda", Logger: logger})
	if err != nil {
		return nil, err
	}
	counting := counts.CounterOptions{Feed: feed, Logger: logger, Patience: counts.Patience}
	if pages.Name == keeper.InTable {
		counting.Pages = pagetable.New(numbers, table)
	}
	counter := counts.NewCounter(call.For(client, call.ForCounting), table, counting)
	journal := leases.NewLeases(call.For(client, call.ForLeases), table)
	batches := outbox.New(call.For(client, call.ForOutbox), table).After(func(ctx context.Context, records []stream.Record) error {
		err := counter.Handle(ctx, records)
		counter.AwaitMerges(ctx) // between two invocations, the process is frozen
		return err
	})
	var observer stream.Observer
	if tell.metrics != nil {
		observer = tell.metrics.Stream
	}
	// The function writes no comments, so no batch is linked to a write.
	batches = stream.Traced(batches, tell.traces.Tracer(), nil)
	return tell.after(stream.NewFunction(table, batches, journal, logger, observer).Invoke), nil
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
