package command

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/telemetry"
)

// Function is the API of talkback serve for a process of AWS Lambda: without a port, and without
// background work. Other processes count comments.
type Function struct {
	http.Handler
	traces  *telemetry.Traces
	metrics *telemetry.Metrics
}

// Flush sends metrics and traces. The process may be frozen afterwards.
func (f *Function) Flush(ctx context.Context) { telemetry.Flush(ctx, f.traces, f.metrics) }

// unfitFlags are the flags of talkback serve that do not fit a function, and why.
var unfitFlags = []struct {
	why   string
	flags []string
}{
	{"AWS Lambda takes the connections, and ends the process between two requests", []string{
		"listen", "tls-cert", "tls-key", "max-connections", "max-arriving", "max-unsent", "drain-timeout", "drain-delay",
	}},
	{"a process answers one request at a time: bound their number by the function's reserved concurrency", []string{"max-in-flight", "min-in-flight"}},
	{"none of its ports can be reached: send metrics by OTEL_EXPORTER_OTLP_ENDPOINT", []string{"admin-listen"}},
	{"its disk is not kept, so there is no local engine: leave the variable out for DynamoDB of the function's region", []string{"data", "engine"}},
	{"its start must be short: run talkback serve with it once, on a machine of yours", []string{"create-table", "sample-data"}},
	{"it does not read the stream, so its cached pages would be out of date: cache at a CDN", []string{"page-age"}},
	{"it does nothing between two requests, so it cannot send events: subscribe at a server that runs talkback serve", []string{"max-subscriptions", "client-subscriptions"}},
	{"its log is read by programs, as lines of JSON", []string{"log-format"}},
}

// functionLine is the configuration of a function. All of it comes from the environment.
type functionLine struct {
	Engine EngineFlags `embed:""`
	Log    LogFlags    `embed:""`
	Serve  Serve       `cmd:"" default:"withargs"`
}

// NewFunction makes the API configured by the environment, with the variables of talkback serve. It
// connects to the table, and starts metrics and traces. Its error names the cure.
func NewFunction(ctx context.Context, term Terminal) (_ *Function, err error) {
	var l functionLine
	parser, err := newParser(&l, &l.Engine, term, func(int) {})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			flags := slices.Concat(parser.Model.Leaves(false)[0].AllFlags(false)...)
			text := output.PrintableLines(plainly(err, term.Logger))
			err = errors.New(nameVariables(flags, text, func(*kong.Flag) bool { return true }))
		}
	}()
	chosen, err := parser.Parse(nil)
	if err != nil {
		return nil, unparsed(err, parser.Model, nil)
	}
	l.Log.LogFormat = "json"
	term = l.Log.apply(term)
	warnOfMisspelt(term, parser.Model, os.Environ())
	if err := cmp.Or(refuseBlank(chosen), refuseUnfit(chosen)); err != nil {
		return nil, err
	}
	l.Engine.AWS = l.Engine.Endpoint == ""
	return l.Serve.function(ctx, &l.Engine, term)
}

// refuseUnfit returns an error if a variable is set whose flag does not fit a function.
func refuseUnfit(chosen *kong.Context) error {
	given := map[string]string{}
	for _, flag := range chosen.Flags() {
		value := variableOf(flag)
		if value == "" || flag.Name == "log-format" && value == "json" {
			continue
		}
		given[flag.Name] = flag.Envs[0]
	}
	for _, reason := range unfitFlags {
		for _, name := range reason.flags {
			if variable := given[name]; variable != "" {
				return usagef("%s does not fit a function: %s", variable, reason.why)
			}
		}
	}
	return nil
}

// function wires the API as Run does, but without a server and without counting.
func (c *Serve) function(ctx context.Context, flags *EngineFlags, term Terminal) (_ *Function, err error) {
	c.NoCount = true
	target, err := keeper.Parse(c.Pages, keeper.Networked())
	if err != nil {
		return nil, asUsage(err)
	}
	around, err := c.prepare(ctx, nil, flags.Table, nil, term)
	if err != nil {
		return nil, err
	}
	session, err := flags.Open(ctx, Opening{Owner: "talkback-lambda"}, term)
	if err != nil {
		return nil, err
	}
	session.observe(around.traces, c.measured, term.Logger)
	pages, err := openPages(ctx, target, session, term.Logger)
	if err != nil {
		return nil, err
	}
	c.Watermark = newLeases(session)
	store := c.Store(session, pages.found, term.Logger)
	f := &Function{Handler: c.Handler(store, newEraser(session), around.authorizer, term), traces: around.traces}
	if c.measured != nil {
		f.metrics = c.measured.Metrics
	}
	return f, nil
}
