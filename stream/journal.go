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
	// Label is the stream whose shards have leases; empty before the first.
	Label string
	// Complete says that a rebuild counted all changes before Since, and that no gap was found
	// afterwards. It is false until the first rebuild completes.
	Complete bool
	// Since is when that rebuild began.
	Since time.Time
	// Gap is the latest gap that no rebuild has closed, nil for none.
	Gap *Gap
	// Scheduled is when the last item was written that a schedule writes to see whether a function of
	// AWS Lambda is alive, and which one processed. It is zero if none ever was.
	Scheduled time.Time
}

// ScheduleLate is how long ago Scheduled may be: three items of the schedule.
const ScheduleLate = 15 * time.Minute

// Gap says that records were dropped before they were read, or that a record was dead-lettered.
type Gap struct {
	// Found is when the gap was noticed.
	Found time.Time
	// Shard is where the gap is; empty for the whole stream.
	Shard string
	// Reason is a sentence for the log.
	Reason string
}

// Same reports whether two gaps are the same, or both nil.
func (g *Gap) Same(other *Gap) bool {
	if g == nil || other == nil {
		return g == other
	}
	return g.Found.Equal(other.Found) && g.Shard == other.Shard && g.Reason == other.Reason
}

// DeadLetter is a record that could not be processed.
type DeadLetter struct {
	// Shard and Position are where the record is in the stream.
	Shard    string
	Position Position
	// Key is the key of its item.
	Key string
	// Reason is the type of its error, without the text.
	Reason string
	// Found is when it was dead-lettered.
	Found time.Time
}

// Journal keeps the state and the dead letters where all processes see them.
type Journal interface {
	// State reads the state as it was last written; the zero State if it never was.
	State(ctx context.Context) (State, error)
	// SwapState replaces the old state, and gives the next one the version after it. If the stored
	// version is not that of the old state, the error is of the kind Conflict.
	SwapState(ctx context.Context, old, new State) error
	// PutDeadLetter keeps a dead-lettered record; repeating the call changes nothing.
	PutDeadLetter(ctx context.Context, label string, letter DeadLetter) error
}

// MarkComplete says that a rebuild counted all changes before a time, and closes the gap that was
// known when it began. before is the state as it was read before the rebuild. If a gap was found
// since, the error is of the kind Conflict.
func MarkComplete(ctx context.Context, journal Journal, before State, since time.Time) error {
	return changeState(ctx, journal, func(state *State) error {
		if !before.Gap.Same(state.Gap) || before.Label != "" && before.Label != state.Label {
			return comment.Errorf(comment.Conflict, "records of the stream were lost meanwhile; count everything again")
		}
		state.Complete, state.Since, state.Gap = true, since, nil
		return nil
	})
}

// changeState changes the state, and keeps what others write at the same time.
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

// recordGap writes a gap into the state.
func recordGap(ctx context.Context, journal Journal, gap Gap) error {
	return changeState(ctx, journal, func(state *State) error {
		state.Complete, state.Gap = false, &gap
		return nil
	})
}

// writeDeadLetter dead-letters a record. The journal keeps its position, the logger gets a line,
// and the gap that this leaves in the counts is recorded and returned. shard is empty where it is
// not known.
func writeDeadLetter(ctx context.Context, journal Journal, logger *slog.Logger, shard string, failure Failure) (Gap, error) {
	record := failure.Record
	letter := DeadLetter{Shard: shard, Position: record.Position, Key: record.Key(), Reason: failure.Reason, Found: time.Now()}
	if err := journal.PutDeadLetter(ctx, record.Position.Label(), letter); err != nil {
		return Gap{}, err
	}
	if shard != "" {
		logger = logger.With("shard", shard)
	}
	logger.Error("a record of the stream cannot be processed and was dead-lettered",
		"position", string(letter.Position), "key", letter.Key, "reason", letter.Reason)
	gap := Gap{Found: letter.Found, Shard: shard, Reason: "a record was dead-lettered at " + string(letter.Position)}
	return gap, recordGap(ctx, journal, gap)
}
