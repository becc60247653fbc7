package call

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
)

// A write is tried this often while its outcome is unknown or it was turned away, with waits between that double from the
// first and are drawn at random up to their full length. A try without an answer is given up early enough for another
// within the time of one request. Together that is some 15 s, on which comment.SettleTime rests.
const (
	writeTries     = 5
	writeFirstWait = 25 * time.Millisecond
	writeTimeout   = 3 * time.Second
)

// RetryWrite tries a write until its outcome is known. The write is told whether an earlier try may have had an effect, and
// returns an error of its own when it can tell that there was none. An error of RetryWrite itself therefore means one of two
// things: the write had no effect, or, in the words of outcomeUnknown, nobody knows.
func RetryWrite(ctx context.Context, write func(ctx context.Context, again bool) error) error {
	again := false
	for try := 0; ; try++ {
		err := within(ctx, writeTimeout, again, write)
		if err == nil || settled(err) {
			return err
		}
		again = again || mayHaveHappened(err)
		if try < writeTries-1 && Transient(Wrap(err, "try %d", try)) {
			if ended := pause(ctx, writeFirstWait<<try); ended == nil {
				continue
			}
		}
		if again {
			return OutcomeUnknown(err, ctx.Err())
		}
		return err
	}
}

// within makes one try in a bounded time.
func within(ctx context.Context, limit time.Duration, again bool, write func(context.Context, bool) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return write(ctx, again)
}

// settled tells whether an error is the write's own word about what is in the table.
func settled(err error) bool {
	switch comment.KindOf(err) {
	case comment.NotFound, comment.Conflict, comment.KeyReused:
		return true
	}
	return errors.Is(err, ErrOvertaken)
}

// ErrOvertaken is the cause of an edit whose outcome no further try would tell.
var ErrOvertaken = errors.New("the comment was changed or deleted meanwhile")

// mayHaveHappened tells whether a try that ended in an error may have had an effect. What DynamoDB refuses for a fault of
// the request, or turns away because it is busy, had none.
func mayHaveHappened(err error) bool {
	var told *comment.Error // by the write itself, perhaps of another call than the one that writes
	if !errors.As(err, &told) && hadNoEffect(err) {
		return false
	}
	switch comment.KindOf(Wrap(err, "write")) {
	case comment.Unavailable, comment.Timeout, comment.Canceled, comment.Throttled:
		return true
	}
	return false
}

// OutcomeUnknown is the error of a write that may have happened or not. Why the request ended, if it did, is its kind.
func OutcomeUnknown(err, ended error) error {
	kind := comment.Unavailable
	if ended != nil {
		kind = comment.KindOf(ended)
	}
	return &comment.Error{
		Kind:    kind,
		Message: "whether this was written is unknown: read to see; what had an idempotency key can be sent again with the same one",
		Cause:   err,
	}
}
