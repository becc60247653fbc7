package command

import (
	"io"
	"log/slog"
	"os"
)

// Terminal is where a command reads and writes.
type Terminal struct {
	// In is standard input.
	In io.Reader
	// Out receives the result of a command, Err everything else: progress, logs and errors.
	Out, Err io.Writer
	// Logger writes to Err.
	Logger *slog.Logger
	// LogsJSON says that programs read Err: it gets lines of JSON only, as far as a server is
	// concerned.
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

// LogFlags say how the log is written.
type LogFlags struct {
	LogFormat string `help:"Format of the log: text for people; json for programs, with a line for each request (default: ${default})." enum:"text,json" default:"text" placeholder:"json"`
	LogLevel  string `help:"Least level that is logged: debug, info, warn or error; debug logs each request in any format (default: ${default})." enum:"debug,info,warn,error" default:"info" placeholder:"warn"`
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// apply returns the terminal with the log that the flags ask for. With the defaults, its log stays
// as it is.
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
