package keeper

import (
	"context"
	"log/slog"
	"time"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// CountProgress tells how far comments are counted.
type CountProgress interface {
	// Current returns the state and the leases of the stream that is being read.
	Current(ctx context.Context) (stream.State, []stream.Lease, error)
}

// Entries reads all entries of the table.
type Entries interface {
	// All calls do with the entries of all comments, page by page, perhaps from several goroutines.
	// The reads are consistent: an entry is at least as new as when All was called.
	All(ctx context.Context, do func(ctx context.Context, entries []pageindex.Entry) error) error
}

// Pace is the times of a Keeper.
type Pace struct {
	// Look is how old information about the table and the store may be when it is used.
	Look time.Duration
	// Feed is how long feeding the store is attempted before a gap is declared.
	Feed time.Duration
	// Find is how long the store may take to answer.
	Find time.Duration
	// Build is how long the store may take for one call of a build, except the last. Finish is how
	// long it may take for the last call, which may sort and move all entries.
	Build, Finish time.Duration
	// Settle is the time between the beginning of a build and its first read. It is longer than
	// Look and Feed together, so that by then all processes feed the store, or have declared a gap.
	Settle time.Duration
	// Lag is how far counting may be behind for Find to answer.
	Lag time.Duration
	// Check is the time between two checks whether the store is complete.
	Check time.Duration
	// Heartbeat is the time between two heartbeats of a build.
	Heartbeat time.Duration
}

// DefaultPace is the pace of all processes of a table. They rely on each other's times.
func DefaultPace() Pace {
	return Pace{
		Look: 2 * time.Second, Feed: 2 * time.Second, Find: 3 * time.Second, Build: time.Minute, Finish: 5 * time.Minute, Settle: 5 * time.Second,
		Lag: 30 * time.Second, Check: 10 * time.Second, Heartbeat: time.Second,
	}
}

// within makes a call with a timeout.
func within[T any](ctx context.Context, timeout time.Duration, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return call(ctx)
}

// Options are the dependencies and settings of a Keeper.
type Options struct {
	// Name is the store's name in the table and in logs. It holds no password.
	Name string
	// Store is the store, nil for a process that counts without feeding a store.
	Store pageindex.Store
	// Table keeps the registry. Required.
	Table Table
	// Progress and Entries are required for Find, Build and Run.
	Progress CountProgress
	Entries  Entries
	// Who describes this process to others that want to build the same store.
	Who string
	// Engine names the run of the local engine that serves the table, as in counts.Rebuilder.
	Engine string
	// Logger logs what happens to the store. Required.
	Logger *slog.Logger
	// Pace is the times; zero means DefaultPace.
	Pace Pace
}
