package counts

import (
	"context"
	"log/slog"
	"time"

	"github.com/talkback/talkback/stream"
)

// localPoll is the time between two reads of a local engine's stream, which has no rate limit.
const localPoll = 50 * time.Millisecond

// RunnerTable is what is done with the table whose comments are counted.
type RunnerTable struct {
	// HasComments reports whether the table holds any comment.
	HasComments func(ctx context.Context) (bool, error)
	// DropExpired makes the table delete expired items, unless it does already.
	DropExpired func(ctx context.Context) error
	// NoteLayout notes the items' layout in the table, unless it is already noted.
	NoteLayout func(ctx context.Context) error
	// Rebuild counts all comments again. The error is of the kind Conflict while another process
	// does so.
	Rebuild func(ctx context.Context) (RebuildResult, error)
}

// RunnerLeases tell how far the table's stream was read.
type RunnerLeases interface {
	stream.Journal
	// Current returns the state and the leases of the stream that is being read.
	Current(ctx context.Context) (stream.State, []stream.Lease, error)
}

// Runner keeps the statistics of a table up to date while a command runs. It reads the table's
// stream, sharing it with other processes. It rebuilds the statistics when they may be wrong, warns
// when they are late, and can wait until all writes are counted.
type Runner struct {
	// Consumer reads the stream. Its fields may be changed before Run, Beside and Until.
	Consumer *stream.Consumer

	leases RunnerLeases
	table  RunnerTable
	local  bool
	log    *slog.Logger
	gap    chan struct{} // holds one signal after a gap
}

// NewRunner makes a Runner. local means that the table's engine does not limit reads of its stream.
func NewRunner(consumer *stream.Consumer, leases RunnerLeases, table RunnerTable, local bool, log *slog.Logger) *Runner {
	r := &Runner{Consumer: consumer, leases: leases, table: table, local: local, log: log, gap: make(chan struct{}, 1)}
	consumer.OnGap = func(stream.Gap) {
		select {
		case r.gap <- struct{}{}:
		default: // a signal is waiting already
		}
	}
	if local {
		consumer.Poll = localPoll
	}
	return r
}
