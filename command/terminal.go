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
