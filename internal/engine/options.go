package engine

import "log/slog"

// Options says how to run an engine.
type Options struct {
	// Folder holds the engine's data. It is made if it does not exist.
	Folder string
	// Binary is the engine's program. If it is empty, the program dynoxide beside the running
	// executable is used, or else the one on PATH.
	Binary string
	// Owner names the running command for messages of other commands, such as "talkback serve".
	Owner string
	// Shared says that other commands may use this engine while it runs.
	Shared bool
	// Existing refuses a folder without data with a *MissingError, instead of creating it.
	Existing bool
	// Logger logs what the person who runs the command should know. If it is nil, nothing is
	// logged.
	Logger *slog.Logger
}
