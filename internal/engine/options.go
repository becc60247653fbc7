package engine

import "log/slog"

// Options says how to run an engine.
type Options struct {
	// Folder holds the engine's data. It is created if it does not exist.
	Folder string
	// Binary is the engine's program. If it is empty, the program dynoxide next to the running
	// executable is used, or else the one on PATH.
	Binary string
	// Owner names the running command in messages of other commands, such as "talkback serve".
	Owner string
	// Shared allows other commands to use this engine while it runs.
	Shared bool
	// Existing makes Start return an error for a folder without data, not create it.
	Existing bool
	// Logger logs messages for the user of the command; nil logs nothing.
	Logger *slog.Logger
}
