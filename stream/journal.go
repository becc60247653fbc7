package stream

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
)

// State is what is known of all that was ever counted from the stream.
type State struct {
	// Version rises by 1 with each write; 0 when there was none.
	Version int64
	// Label is the stream whose shards have leases, empty before any had.
	Label string
	// Complete says that all changes before Since were counted otherwise, and that no gap is known of since. It is false
	// until a rebuild says so.
	Complete bool
	// Since is when that counting began.
	Since time.Time
	// Gap is the latest gap that was not closed since, nil for none.
	Gap *Gap
}

func (s State) with(gap Gap) State {
	s.Complete, s.Gap = false, &gap
	return s
}

// Gap is that records were dropped before they were read, or that one was dead-lettered.
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

// DeadLetter is a record that could not be processed.
type DeadLetter struct {
	// Shard and Position are where it stands.
	Shard    string
	Position Position
	// Key is the key of its item.
	Key string
	// Reason is what its error was, without its text.
	Reason string
	// Found is when it was dead-lettered.
	Found time.Time
}

// Journal keeps what went wrong where all processes see it.
type Journal interface {
	// State reads the state as it was last written, the zero State if it never was.
	State(ctx context.Context) (State, error)
	// SwapState writes the state if it has the version of the old one, and gives it the next one. The error is of the kind
	// Conflict when it has another.
	SwapState(ctx context.Context, old, new State) error
	// PutDeadLetter keeps a record, once however often it is called.
	PutDeadLetter(ctx context.Context, label string, letter DeadLetter) error
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
