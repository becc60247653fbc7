package counts

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// errUncounted is for statistics of which nothing can be said yet: zeros would be wrong.
var errUncounted = comment.Errorf(comment.Unavailable, "the comments are being counted for the first time; ask again in a moment")

// uncountedAge is for how long it is believed that a table was never counted.
const uncountedAge = time.Second

// journal tells what was ever counted.
type journal interface {
	State(context.Context) (stream.State, error)
}

// firstCount refuses statistics until all comments were counted for the first time. What was so once remains so, and takes
// no further look. The nil firstCount refuses nothing.
type firstCount struct {
	journal journal
	now     func() time.Time

	mu     sync.Mutex
	done   bool
	looked time.Time
}

// check returns an error while nothing can be said of counts.
func (f *firstCount) check(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return nil
	}
	if f.now().Sub(f.looked) < uncountedAge {
		return errUncounted
	}
	state, err := f.journal.State(ctx)
	if err != nil {
		return err
	}
	if f.done = state.Complete || !state.Since.IsZero(); f.done {
		return nil
	}
	f.looked = f.now()
	return errUncounted
}
