package counts

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// errUncounted is for statistics that are not known yet: zeros would be wrong.
var errUncounted = comment.Errorf(comment.Unavailable, "the comments are being counted for the first time; ask again in a moment")

// uncountedAge is how long the answer that a table was never counted is cached.
const uncountedAge = time.Second

// Journal says whether the comments were ever counted.
type Journal interface {
	State(context.Context) (stream.State, error)
}

// firstCount refuses statistics until all comments were counted for the first time. After that it
// reads the journal no more. The nil firstCount refuses nothing.
type firstCount struct {
	journal Journal
	now     func() time.Time

	mu     sync.Mutex
	done   bool
	looked time.Time
}

// check returns an error until the first counting is complete.
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
