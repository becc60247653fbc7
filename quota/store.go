package quota

import (
	"context"
	"time"
)

// Store keeps accounts that several servers share. It may be away.
type Store interface {
	// Change adds a cost to the time that a client owes: see Policy. Unless the cost is forced, it
	// changes nothing if the client may not use that much. It returns the time that the client owes
	// afterwards.
	Change(ctx context.Context, policy Policy, c Client, cost Cost) (owed time.Duration, changed bool, err error)
	// Ping returns an error while the store cannot be used.
	Ping(ctx context.Context) error
}

// Cost is a change of what a client owes.
type Cost struct {
	// Time is the time in which the units become available. It may be negative.
	Time time.Duration
	// Forced changes are made whatever the client owes.
	Forced bool
}
