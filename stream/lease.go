package stream

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
)

// Lease is who reads a shard and how far it was read. A shard whose parent was not read to its end has none.
type Lease struct {
	// Shard is the shard, and Parent the one before it, empty for none.
	Shard, Parent string
	// Owner is the process that reads the shard, empty for none.
	Owner string
	// Engine is the run of the engine through which the owner took the lease, empty where an engine does not end with those
	// who use it. An owner that came through a run which has ended can write no more.
	Engine string
	// Counter rises by 1 with each write, the first of which makes it 1.
	Counter int64
	// Checkpoint is the sequence number of the last record that was worked off, empty before any was.
	Checkpoint string
	// Ended says that the shard was read to its end, and that its children have leases.
	Ended bool
	// CaughtUp is a time before which every change in this shard was worked off. Zero: unknown.
	CaughtUp time.Time
	// Heartbeat is the key of the heartbeats that come through the shard, or came through its parent; empty while none is
	// known.
	Heartbeat string
	// Proven is the counter of the lease when the last heartbeat that came through was sent: every change that was
	// committed before that write of the lease was worked off. 0: unknown.
	Proven int64
	// Aside is how often records of the shard were set aside; one may have been so again after a restart.
	Aside int
}

// Lag is how long ago the shard was last known to be worked off, false when that is unknown.
func (l Lease) Lag(now time.Time) (lag time.Duration, known bool) {
	return max(0, now.Sub(l.CaughtUp)), !l.CaughtUp.IsZero()
}

// Leases keeps leases where all processes see them, and heartbeats.
type Leases interface {
	Heartbeats
	// List reads all leases of a stream, each as it was last written.
	List(ctx context.Context, label string) ([]Lease, error)
	// Swap writes a lease if it has the owner and the counter of the old one, or is not there and that counter is 0. The
	// error is of the kind Conflict when it has others. An error of a kind that may pass leaves the outcome open.
	Swap(ctx context.Context, label string, old, new Lease) error
}

// State is what is known of all that was ever counted from the stream.
type State struct {
	// Version rises by 1 with each write; 0 when there was none.
	Version int64
	// Label is the stream whose shards have leases, empty before any had.
	Label string
	// Complete says that all changes before Since were counted otherwise, and that no gap is known of since. It is false
	// until whoever counts everything says so.
	Complete bool
	// Since is when that counting began.
	Since time.Time
	// Gap is the latest gap that was not closed since, nil for none.
	Gap *Gap
}

// Gap is that records were dropped before they were read, or that one was set aside.
type Gap struct {
	// Found is when that was noticed.
	Found time.Time
	// Shard is where, empty when it is all of the stream.
	Shard string
	// Reason is a sentence for the log.
	Reason string
}

// Same tells whether two gaps are one, or there is neither.
func (g *Gap) Same(other *Gap) bool {
	if g == nil || other == nil {
		return g == other
	}
	return g.Found.Equal(other.Found) && g.Shard == other.Shard && g.Reason == other.Reason
}

// Aside is a record that could not be worked off.
type Aside struct {
	// Shard and Position are where it stands.
	Shard    string
	Position Position
	// Key is the key of its item.
	Key string
	// Reason is what its error was, without its text.
	Reason string
	// Found is when it was set aside.
	Found time.Time
}

// Journal keeps what went wrong where all processes see it.
type Journal interface {
	// State reads the state as it was last written, the zero State if it never was.
	State(ctx context.Context) (State, error)
	// SwapState writes the state if it has the version of the old one, and gives it the next one. The error is of the kind
	// Conflict when it has another.
	SwapState(ctx context.Context, old, new State) error
	// SetAside keeps a record, once however often it is called.
	SetAside(ctx context.Context, label string, aside Aside) error
}

// WorkedOff is a time before which every change was worked off, false when that is unknown. The leases must be all of
// their stream: a shard without one has an ancestor with one that has not ended.
func WorkedOff(leases []Lease) (time.Time, bool) {
	var earliest time.Time
	for _, lease := range leases {
		switch {
		case lease.Ended:
		case lease.CaughtUp.IsZero():
			return time.Time{}, false
		case earliest.IsZero() || lease.CaughtUp.Before(earliest):
			earliest = lease.CaughtUp
		}
	}
	return earliest, !earliest.IsZero()
}

// MarkComplete says that all changes before a time were counted otherwise, and closes the gap that was known then. The
// state must have been read before the counting began: the error is of the kind Conflict when a gap was found since.
func MarkComplete(ctx context.Context, journal Journal, before State, since time.Time) error {
	for {
		now, err := journal.State(ctx)
		if err != nil {
			return err
		}
		if !before.Gap.Same(now.Gap) || before.Label != "" && before.Label != now.Label {
			return comment.Errorf(comment.Conflict, "records of the stream were lost meanwhile; count everything again")
		}
		done := now
		done.Complete, done.Since, done.Gap = true, since, nil
		if err := journal.SwapState(ctx, now, done); comment.KindOf(err) != comment.Conflict {
			return err
		}
	}
}

// recordGap writes a gap into the state.
func recordGap(ctx context.Context, journal Journal, gap Gap) error {
	for {
		state, err := journal.State(ctx)
		if err != nil {
			return err
		}
		if err := journal.SwapState(ctx, state, state.with(gap)); comment.KindOf(err) != comment.Conflict {
			return err
		}
	}
}

func (s State) with(gap Gap) State {
	s.Complete, s.Gap = false, &gap
	return s
}
