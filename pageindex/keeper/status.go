package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// Status is the status of a store.
type Status struct {
	Name string // of the store
	// Complete means that it lacks nothing, as far as known.
	Complete bool
	// Asked says that the store itself was called, and Away is its error if it did not answer. If
	// it is false, only the table was read, which does not know of a store that was emptied.
	Asked bool
	Away  error
	// InUse means that the store could not be called because another process uses it.
	InUse bool
	// Since is when it first missed comments, and Reason why; zero and empty if unknown.
	Since  time.Time
	Reason string
	// Work is the build under way; its owner is empty without one.
	Work Work
}

// StatusOf returns the status of a store according to the table and to the state of the stream.
func (s Registration) StatusOf(name string, state stream.State) Status {
	out := Status{Name: name, Work: s.Work, Complete: state.Complete && !s.Open() && s.Built == s.Token(state)}
	if s.Open() {
		out.Since, out.Reason = s.Since, s.Reason
	}
	return out
}

// Status returns the status of the store according to the table and the store.
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
