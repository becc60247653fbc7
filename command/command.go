// Package command is the command line: one file for each subcommand, and all flags in one place. Every flag is also an
// environment variable: --listen is TALKBACK_LISTEN. The flag wins.
package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/stream"
)

// line is the whole command line.
type line struct {
	Engine EngineFlags `embed:""`

	Serve  Serve  `cmd:"" default:"withargs" help:"Serve the API and the explorer. What talkback does unless told otherwise."`
	Import Import `cmd:"" help:"Read a file of reviews into the table."`
	Export Export `cmd:"" help:"Write the table's comments to a file that import reads back as they are."`
	Stream Stream `cmd:"" help:"Count comments as the table's stream tells of them, or tell how far that came."`
	Show   Show   `cmd:"" help:"Print one comment, with its keys."`

	Explain Explain `cmd:"" help:"Print how a page of comments is read, what else could have been, and what it costs."`
	Rebuild Rebuild `cmd:"" help:"Count all comments anew and make statistics and leaderboards right, while everything goes on."`
	Verify  Verify  `cmd:"" help:"Count all comments and print every drift of statistics and leaderboards. Changes nothing."`
}

// Terminal is where a command reads and writes.
type Terminal struct {
	// In is standard input.
	In io.Reader
	// Out is for what a command was asked for, Err for everything that is said on the way.
	Out, Err io.Writer
	// Logger writes to Err.
	Logger *slog.Logger
}

// StandardTerminal is that of the process.
func StandardTerminal() Terminal {
	return Terminal{
		In:     os.Stdin,
		Out:    os.Stdout,
		Err:    os.Stderr,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
}

// Main runs the command that the arguments name until it is done or the context ends, and returns the exit status: 0, or
// 1 after one sentence about what is wrong and what cures it.
func Main(ctx context.Context, arguments []string, term Terminal) int {
	var l line
	exit := -1
	parser, err := kong.New(&l,
		kong.Name("talkback"),
		kong.Description("Product comments as a data service: a GraphQL API over one DynamoDB table."),
		kong.DefaultEnvars("TALKBACK"),
		kong.Writers(term.Out, term.Err),
		kong.Exit(func(status int) { exit = status }),
		kong.UsageOnError(),
		kong.Vars{
			"table": dynamo.DefaultTable, "max_page": strconv.Itoa(comment.MaxPageSize),
			"max_body": strconv.Itoa(httpapi.DefaultMaxBody), "max_query": strconv.Itoa(httpapi.DefaultMaxQuery),
			"lease_time":    stream.DefaultExpiry.String(),
			"max_in_flight": strconv.Itoa(httpapi.DefaultMaxInFlight), "max_unsent": strconv.Itoa(httpapi.DefaultMaxUnsent), "max_shards": strconv.Itoa(dynamo.MaxLeaderShards),
		},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(term, &l.Engine),
	)
	if err != nil {
		panic(err) // the flags themselves are wrong, which every test of this package would show
	}
	chosen, err := parser.Parse(arguments)
	switch {
	case exit >= 0: // --help was answered
		return exit
	case err != nil:
		fmt.Fprintf(term.Err, "talkback: %v; see talkback --help\n", err)
		return 1
	}
	if err := chosen.Run(); err != nil {
		fmt.Fprintf(term.Err, "talkback: %v\n", err)
		return 1
	}
	return 0
}
