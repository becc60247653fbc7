package stream

import (
	"context"
	"log/slog"
	"time"

	"github.com/talkback/talkback/comment"
)

// State says whether everything in the stream was counted.
type State struct {
	// Version rises by 1 with each write; 0 is a state that was never written.
	Version int64
	// Label is the label of the stream whose shards have leases; empty before the first.
	Label string
	// Complete is whether a rebuild counted all changes before Since and no gap was found
	// afterwards. It is false until the first rebuild completes.
	Complete bool
	// Since is when that rebuild began.
	Since time.Time
	// Gap is the latest gap that no rebuild has closed, nil for none.
	Gap *Gap
	// Scheduled is when the last processed item of the schedule was written; zero if there was
	// none. The schedule writes items to check that a function of AWS Lambda is alive.
	Scheduled time.Time
}

// begun returns the state when a stream begins to be read. Counts that were complete with another
// stream are no longer complete: the gap is noted together with the label, so that a rebuild which
// begins for the gap is one of this stream. It returns no gap if another process noted it before.
func (s State) begun(label string, now time.Time) (State, *Gap) {
	var gap *Gap
	if s.Complete && s.Label != label && s.Label != "" {
		gap = &Gap{Found: now, Reason: "the table has another stream than the one that was read before"}
		s.Complete, s.Gap = false, gap
	}
	s.Label = label
	return s, gap
}

// ScheduleLate is the maximum age of Scheduled: three items of the schedule.
const ScheduleLate = 15 * time.Minute

// Gap means that records were dropped before they were read, or that a record was dead-lettered.
type Gap struct {
	// Found is when the gap was noticed.
	Found time.Time
	// Shard is where the gap is; empty for the whole stream.
	Shard string
	// Reason is a sentence for the log.
	Reason string
}

// Same reports whether two gaps are equal, or both nil.
func (g *Gap) Same(other *Gap) bool {
	if g == nil || other == nil {
		return g == other
	}
	return g.Found.Equal(other.Found) && g.Shard == other.Shard && g.Reason == other.Reason
}

// DeadLetter is a record that could not be processed.
type DeadLetter struct {
	// Shard and Position locate the record in the stream.
	Shard    string
	Position Position
	Key      string
	// Reason is the type of its error, without the text.
	Reason string
	// Found is when it was dead-lettered.
	Found time.Time
}

// Journal stores the state and the dead letters for all processes.
type Journal interface {
	// State reads the state as last written; the zero State if it never was.
	State(ctx context.Context) (State, error)
	// SwapState replaces the old state by the new one, with the next version. It returns a Conflict
	// error if the stored version is not that of the old state.
	SwapState(ctx context.Context, old, new State) error
	// PutDeadLetter stores a dead letter. Repeating the call changes nothing.
	PutDeadLetter(ctx context.Context, label string, letter DeadLetter) error
}

// MarkComplete notes that a rebuild counted all changes before since, and closes the gap that was
// known when it began. before is the state as read before the rebuild. It returns a Conflict error
// if another gap was found meanwhile.
func MarkComplete(ctx context.Context, journal Journal, before State, since time.Time) error {
	return changeState(ctx, journal, func(state *State) error {
		if !before.Gap.Same(state.Gap) || before.Label != "" && before.Label != state.Label {
			return comment.Errorf(comment.Conflict, "records of the stream were lost meanwhile; count everything again")
		}
		state.Complete, state.Since, state.Gap = true, since, nil
		return nil
	})
}

// changeState changes the state, and preserves concurrent changes by others.
func changeState(ctx context.Context, journal Journal, change func(*State) error) error {
	for {
		old, err := journal.State(ctx)
		if err != nil {
			return err
		}
		next := old
		if err := change(&next); err != nil {
			return err
		}
		if err := journal.SwapState(ctx, old, next); comment.KindOf(err) != comment.Conflict {
			return err
		}
	}
}

// losses records what counts lack.
type losses struct {
	journal  Journal
	logger   *slog.Logger
	observer Observer
}

func (l losses) recordGap(ctx context.Context, gap Gap) error {
	err := changeState(ctx, l.journal, func(state *State) error {
		state.Complete, state.Gap = false, &gap
		return nil
	})
	if err == nil {
		l.observer.GapFound()
	}
	return err
}

// deadLetter dead-letters a record: it stores the dead letter, logs a line, and records and returns
// the gap that this leaves in the counts. shard is empty if unknown.
func (l losses) deadLetter(ctx context.Context, shard string, record Record, reason string) (Gap, error) {
	letter := DeadLetter{Shard: shard, Position: record.Position, Key: record.Key(), Reason: reason, Found: time.Now()}
	if err := l.journal.PutDeadLetter(ctx, record.Position.Label(), letter); err != nil {
		return Gap{}, err
	}
	l.observer.DeadLettered()
	logger := l.logger
	if shard != "" {
		logger = logger.With("shard", shard)
	}
	logger.Error("a record of the stream cannot be processed and was dead-lettered",
		"position", string(letter.Position), "key", letter.Key, "reason", letter.Reason)
	gap := Gap{Found: letter.Found, Shard: shard, Reason: "a record was dead-lettered at " + string(letter.Position)}
	return gap, l.recordGap(ctx, gap)
}
