package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/comment"
)

// Terminal is the input and output of a command.
type Terminal struct {
	In io.Reader
	// Out receives the result of a command, Err everything else: progress, logs and errors.
	Out, Err io.Writer
	Logger   *slog.Logger
	// LogsJSON means that programs read Err: a server writes only lines of JSON to it.
	LogsJSON bool
}

// StandardTerminal returns the terminal of the process: its standard input, output and error.
func StandardTerminal() Terminal {
	return Terminal{
		In:     os.Stdin,
		Out:    os.Stdout,
		Err:    os.Stderr,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
}

// LogFlags configure the log.
type LogFlags struct {
	LogFormat string `help:"Format of the log: text for people; json for programs, with a line for each request (default: ${default})." enum:"text,json" default:"text" placeholder:"json"`
	LogLevel  string `help:"Lowest level that is logged: debug, info, warn or error; debug logs each request in any format (default: ${default})." enum:"debug,info,warn,error" default:"info" placeholder:"warn"`
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// apply returns the terminal with the configured log: with the defaults, its own.
func (f LogFlags) apply(term Terminal) Terminal {
	options := &slog.HandlerOptions{Level: logLevels[f.LogLevel]}
	switch {
	case f.LogFormat == "json":
		term.Logger, term.LogsJSON = slog.New(slog.NewJSONHandler(term.Err, options)), true
	case options.Level != slog.LevelInfo:
		term.Logger = slog.New(slog.NewTextHandler(term.Err, options))
	}
	return term
}

const (
	exitDone   = 0
	exitFailed = 1 // something failed, is missing, or is wrong
	exitUsage  = 2 // the command line is invalid: it can never succeed
	exitExists = 3 // a file of rejected rows exists, and has other rows than this import rejects
)

// usageError is an error in the command line.
type usageError struct{ error }

// Unwrap returns the underlying error.
func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// asUsage turns an error into a usage error, and leaves nil as it is.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// errTerminated is the cause of a context that SIGTERM or SIGHUP ended. Supervisors send SIGTERM,
// and a terminal that closes sends SIGHUP.
var errTerminated = errors.New("asked to stop by SIGTERM or SIGHUP")

// sameSignal is how long further signals count as the first one. The program timeout of GNU sends
// its signal twice at once, and others forward a Ctrl-C that the terminal sends to all.
const sameSignal = time.Second

// Signals returns a context that ends at the first SIGINT, SIGTERM or SIGHUP. A second signal,
// after sameSignal, kills the program at once. It leaves SIGHUP ignored under nohup, and to
// onHangup. stop releases the resources.
func Signals() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(caught, syscall.SIGHUP)
	}
	go func() {
		select {
		case first := <-caught:
			if first != os.Interrupt {
				cancel(errTerminated)
			}
			cancel(context.Canceled) // no effect after errTerminated
			time.Sleep(sameSignal)
			signal.Stop(caught)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// outliveReaders makes a write to a closed pipe fail, until stop is called. Otherwise it silently
// ends the process: a server, with all its requests, when the reader of its log has ended.
func outliveReaders() (stop func()) {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}

// longestEnd is how long a server may still run when its requests have ended: 5 seconds for the
// last spans and metrics, 5 for the local engine, and a margin.
const longestEnd = 12 * time.Second

// endsWithin ends the process, with status 1, if it still runs this long after the context ended,
// unless ended is called: whatever writes to a log that nobody reads waits for ever.
func endsWithin(ctx context.Context, bound time.Duration) (ended func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		select {
		case <-done:
		case <-time.After(bound):
			os.Exit(exitFailed)
		}
	}()
	return func() { close(done) }
}

// endedEarly returns the error of a server, or logs, if a signal merely interrupted its start.
func endedEarly(ctx context.Context, err error, term Terminal) error {
	if err == nil || ctx.Err() == nil || !interruptedOnly(err) {
		return err
	}
	if term.LogsJSON {
		term.Logger.Info("stopped as asked, before it was ready")
	} else {
		fmt.Fprintln(term.Err, "Stopped as asked, before it was ready.")
	}
	return nil
}

// interruptedOnly reports whether all joined errors come from the end of a context.
func interruptedOnly(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !interruptedOnly(err) })
	}
	return errors.Is(err, context.Canceled) || comment.KindOf(err) == comment.Canceled
}

// refusals explain the error codes by which AWS refuses every call.
var refusals = []struct {
	codes []string
	text  string
}{
	{
		[]string{"UnrecognizedClientException", "InvalidSignatureException", "MissingAuthenticationTokenException", "IncompleteSignatureException", "InvalidClientTokenId"},
		"AWS does not accept the credentials: give others by AWS_PROFILE, or by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	},
	{[]string{"ExpiredTokenException", "ExpiredToken"}, "the credentials have expired: log in again, or give others"},
	{[]string{"AccessDeniedException", "AccessDenied"}, "the credentials lack a permission: grant the permissions that docs/operate/aws.md names"},
}

// plainly returns an error's text for users. It replaces errors of the SDK, with request ids and
// type names, by the error code and its meaning. It also logs an error of unknown meaning in full.
func plainly(err error, log *slog.Logger) string {
	text := err.Error()
	for _, call := range failedCalls(err) {
		raw := call.Error()
		if strings.Contains(text, raw) {
			words, known := callText(call)
			text = strings.ReplaceAll(text, raw, words)
			if known && isRefusal(call) { // the words of a refusal say what to do; asking again is for servers, whose roles are renewed
				text = strings.ReplaceAll(text, "; ask again in a moment", "")
			}
			if !known {
				log.Error("a call to the engine failed", "error", raw)
			}
		}
	}
	return text
}

// failedCalls returns the SDK calls in an error's tree.
func failedCalls(err error) []*smithy.OperationError {
	if call, ok := err.(*smithy.OperationError); ok {
		return []*smithy.OperationError{call}
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			return failedCalls(inner)
		}
	case interface{ Unwrap() []error }:
		var all []*smithy.OperationError
		for _, inner := range wrapper.Unwrap() {
			all = append(all, failedCalls(inner)...)
		}
		return all
	}
	return nil
}

// notAnEngine is the code that the SDK uses for a response without one.
const notAnEngine = "UnknownError"

// isRefusal reports whether an engine answered and refused the call.
func isRefusal(call *smithy.OperationError) bool {
	var api smithy.APIError
	return errors.As(call, &api) && api.ErrorCode() != notAnEngine
}

// callText explains why a call failed. known is false if the full error says more.
func callText(call *smithy.OperationError) (text string, known bool) {
	engine, kind := "the engine", "a DynamoDB-compatible engine"
	if call.Service() == "S3" {
		engine, kind = "S3", "an S3-compatible store"
	}
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	switch {
	case isRefusal(call):
		errors.As(call, &api)
	case errors.As(call, &response) && response.HTTPStatusCode() != 0:
		return fmt.Sprintf("the server there is not %s, HTTP status %d", kind, response.HTTPStatusCode()), true
	default:
		return innermost(call).Error(), true
	}
	for _, refusal := range refusals {
		if slices.Contains(refusal.codes, api.ErrorCode()) {
			return fmt.Sprintf("%s (%s of %s)", refusal.text, api.ErrorCode(), call.Operation()), true
		}
	}
	return fmt.Sprintf("%s refused %s: %s", engine, call.Operation(), api.ErrorCode()), false
}

// innermost returns the innermost wrapped error, of joined ones that of the first: the SDK joins
// the failure of a call and the reason why it is not tried again.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			inner = joined.Unwrap()[0]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}
