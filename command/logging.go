package command

import "log/slog"

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
