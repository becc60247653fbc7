// Package command is the command line: one file for each subcommand. A command parses its flags,
// wires the packages that do the work, and prints their results. Every flag is also an environment
// variable: --listen is TALKBACK_LISTEN. The flag takes precedence.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

// line is the whole command line. The tags of flags are those of kong, and these:
//
//	type:"positive"      a whole number from 1 on
//	type:"calls"         a number up to maxCalls; type:"shards" likewise, see valueMappers
//	type:"store"         a value that may be left out, see decodeStore
//	complete:"files"     what shells complete the value with, see completion.go
//	password:"variable"  a value with a password is refused unless the variable has it
//	${table}             in texts, a constant of fillIn
//
// Every flag refuses a blank value, see refuseBlank.
type line struct {
	Engine  EngineFlags `embed:"" group:"Engine and table:"`
	Log     LogFlags    `embed:"" group:"Log:"`
	Version versionFlag `help:"Print the version." env:"-"`

	Serve   Serve   `cmd:"" default:"withargs" help:"Serve the API and the explorer. The default command."`
	Import  Import  `cmd:"" help:"Read a file of reviews into the table."`
	Export  Export  `cmd:"" help:"Write the table's comments to a file that import reads back as they are."`
	Stream  Stream  `cmd:"" help:"Count comments from the table's stream, or print its progress."`
	Show    Show    `cmd:"" help:"Print one comment, with its keys."`
	Stats   Stats   `cmd:"" help:"Print the ratings and languages of a product's comments."`
	Explain Explain `cmd:"" help:"Print how a page of comments is read, which other plans were considered, and what it costs."`
	Rebuild Rebuild `cmd:"" help:"Count all comments again and repair statistics and leaderboards, while the service runs."`
	Verify  Verify  `cmd:"" help:"Count all comments and print every drift of statistics and leaderboards. Changes nothing."`
	Doctor  Doctor  `cmd:"" help:"Check configuration, permissions, table, stream, clocks and counts, and print what to do. Changes nothing."`
	Cost    Cost    `cmd:"" help:"Print what a month costs on AWS, from what a shop does or what its servers measured. Needs no table."`
	Health  Health  `cmd:"" help:"Ask the server on this machine whether it is ready, for supervisors: exits with 0 if it is, else 1."`
	Author  Author  `cmd:"" help:"Export or erase everything that the table holds about an author."`
	Hooks   Hooks   `cmd:"" help:"Tell other services what happens to comments, by HTTP: add, list, pause, resume, test or remove a hook, or deliver its events again."`
	Pages   Pages   `cmd:"" help:"Make the files of page numbers from an export, without a table: talkback pages build."`

	PrintVersion PrintVersion `cmd:"" name:"version" help:"Print the version."`
	Completion   Completion   `cmd:"" help:"Print the script that completes command lines of talkback in a shell."`
	Man          Man          `cmd:"" help:"Print the manual page, for man."`
	Help         Help         `cmd:"" help:"Print the help of a command."`
}

// Main runs the command that the arguments name until it is done or the context ends. It returns
// the exit status: 0 after success, 2 if the command line is invalid, 3 if an earlier import left
// other rejected rows in the way, else 1. Every failure prints its cause and its cure.
func Main(ctx context.Context, arguments []string, term Terminal) int {
	var l line
	exit := -1
	parser, err := newParser(&l, &l.Engine, term, func(status int) { exit = status })
	if err != nil {
		panic(err) // invalid struct tags, any test of this package would fail
	}
	if len(arguments) > 0 && arguments[0] == completeCommand {
		return finish(writeCandidates(term.Out, parser.Model, arguments[1:]), term)
	}
	chosen, err := parser.Parse(arguments)
	switch {
	case exit >= 0: // --help or --version was answered
		return exit
	case err != nil:
		return finish(unparsed(err, parser.Model, arguments), term)
	}
	term = l.Log.apply(term)
	warnOfMisspelt(term, parser.Model, os.Environ())
	if err := cmp.Or(refuseBlank(chosen), refusePassword(chosen)); err != nil {
		return finish(err, term)
	}
	chosen.BindTo(ctx, (*context.Context)(nil))
	switch chosen.Selected().Name {
	case "serve":
		defer endsWithin(ctx, min(l.Serve.DrainTimeout, math.MaxInt64-longestEnd)+longestEnd)()
	case "stream":
		defer endsWithin(ctx, longestEnd)()
	}
	if err = chosen.Run(term); err != nil {
		err = &namedError{err, inVariables(chosen, err.Error())}
	}
	return finish(err, term)
}

func newParser(l any, engine *EngineFlags, term Terminal, exit func(status int)) (*kong.Kong, error) {
	return kong.New(l, append(valueMappers(),
		kong.Name("talkback"),
		kong.Description("Product comments as a data service: a GraphQL API over one DynamoDB table."),
		kong.DefaultEnvars("TALKBACK"),
		kong.Writers(term.Out, term.Err),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{FlagsLast: true}),
		kong.PostBuild(fillIn),
		kong.Bind(engine),
	)...)
}

// fillIn replaces ${name} by constants in the help, defaults and choices of flags. kong.Vars does
// so too, and takes most of the time of a short command.
func fillIn(parser *kong.Kong) error {
	constants := strings.NewReplacer(
		"${table}", layout.DefaultTable,
		"${max_page}", strconv.Itoa(comment.MaxPageSize),
		"${max_body}", strconv.Itoa(httpapi.DefaultMaxBody),
		"${max_query}", strconv.Itoa(httpapi.DefaultMaxQuery),
		"${lease_time}", stream.DefaultExpiry.String(),
		"${max_in_flight}", strconv.Itoa(httpapi.DefaultMaxInFlight),
		"${max_unsent}", strconv.Itoa(httpapi.DefaultMaxUnsent),
		"${max_arriving}", strconv.Itoa(httpapi.DefaultMaxArriving),
		"${max_persisted}", strconv.Itoa(defaultPersisted),
		"${max_connections}", strconv.Itoa(httpapi.DefaultMaxConnections),
		"${max_calls}", strconv.Itoa(maxCalls),
		"${max_shards}", strconv.Itoa(counts.MaxLeaderShards),
		"${client_read_units}", strconv.Itoa(defaultReadUnits),
		"${client_writes}", strconv.Itoa(defaultWrites),
		"${presets}", strings.Join(reviewfile.Presets(), ","),
		"${preset_names}", strings.Join(reviewfile.Presets(), ", "),
		"${pages}", keeper.Forms(keeper.Kinds()),
	)
	return kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if value, is := node.(*kong.Value); is {
			for _, text := range []*string{&value.Help, &value.Default, &value.Enum} {
				*text = constants.Replace(*text)
			}
			if value.Flag != nil {
				value.Flag.PlaceHolder = constants.Replace(value.Flag.PlaceHolder)
			}
		}
		return next(nil)
	})
}

// namedError is an error whose text names variables in place of flags.
type namedError struct {
	error
	text string
}

// Error returns the text.
func (e *namedError) Error() string { return e.text }

// Unwrap returns the error that the text is about.
func (e *namedError) Unwrap() error { return e.error }

func finish(err error, term Terminal) int {
	if err == nil {
		return exitDone
	}
	report(err, term)
	switch {
	case errors.As(err, new(*usageError)):
		return exitUsage
	case errors.As(err, new(*importer.RejectsExistError)):
		return exitExists
	}
	return exitFailed
}

// report prints an error, or logs it if programs read the log.
func report(err error, term Terminal) {
	text := longWord.ReplaceAllStringFunc(output.PrintableLines(plainly(err, term.Logger)), func(word string) string {
		runes := []rune(word)
		return string(runes[:200]) + "…" + string(runes[len(runes)-50:])
	})
	if errors.Is(err, context.Canceled) { // by a signal; the surrounding text says during what
		text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted; run it again")
	}
	if said, other, found := strings.Cut(text, outOfFiles.Error()); found && errors.Is(err, outOfFiles) { // whatever needed one more
		closing := strings.Repeat(")", max(0, strings.Count(said, "(")-strings.Count(said, ")")))
		cure, _, _ := strings.Cut(other, "\n") // the next lines are a summary, or other errors
		text = said + outOfFiles.Error() + closing + "; raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)" + other[len(cure):]
	}
	var unwritten *fs.PathError
	if out, is := term.Out.(*os.File); is && errors.As(err, &unwritten) && unwritten.Path == out.Name() {
		text = strings.ReplaceAll(text, unwritten.Error(), output.Unwritten("standard output", unwritten).Error())
	}
	if term.LogsJSON {
		term.Logger.Error("the command failed", "error", text)
		return
	}
	screen := output.ScreenOf(term.Err)
	fmt.Fprintln(term.Err, screen.Fold(screen.Error("talkback:")+" "+text))
}

// outOfFiles is the error of a process without file descriptors. Its cure is the same wherever it
// happens.
const outOfFiles = syscall.EMFILE

// longWord is a word that would fill a screen, such as a file's name that is too long.
var longWord = regexp.MustCompile(`\S{300,}`)
