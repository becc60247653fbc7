package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// Status is how far a store is.
type Status struct {
	// Name is the name of the store.
	Name string
	// Complete says that it lacks nothing, as far as is known.
	Complete bool
	// Asked says that the store itself was asked, and Away is its error if it did not answer. Only the
	// table was asked otherwise, which does not know of a store that was emptied.
	Asked bool
	Away  error
	// InUse says that the store could not be asked because it belongs to another process.
	InUse bool
	// Since is when it missed comments first, and Reason why; zero and empty if that is not known.
	Since  time.Time
	Reason string
	// Work is the build under way; its owner is empty if there is none.
	Work Work
}

// StatusOf returns the status of a store as the table knows it. The state is that of the stream.
func (s Registration) StatusOf(name string, state stream.State) Status {
	out := Status{Name: name, Work: s.Work, Complete: state.Complete && !s.Open() && s.Built == s.Token(state)}
	if s.Open() {
		out.Since, out.Reason = s.Since, s.Reason
	}
	return out
}

// Status asks the table and the store how far the store is.
func (k *Keeper) Status(ctx context.Context) (Status, error) {
	now, err := k.readStatus(ctx)
	if err != nil {
		return Status{}, err
	}
	out := now.store.StatusOf(k.Name, now.state)
	if errors.Is(now.away, pageindex.ErrInUse) {
		out.InUse = true
		return out, nil
	}
	out.Asked, out.Away = true, now.away
	out.Complete = now.needs() == nothing
	if now.needs() == building {
		out.Reason = reasonToBuild(now)
	}
	return out, nil
}
