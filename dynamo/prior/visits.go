package prior

import (
	"context"
	"sync"
	"time"
)

// visitTime bounds how long a visit takes.
const visitTime = 500 * time.Millisecond

// Visits keeps what a Learner learns for a process that stands still between the calls that it
// answers, and may never go on: a function of AWS Lambda. It is safe for concurrent use.
type Visits struct {
	keeper *Keeper

	mu   sync.Mutex
	next time.Time // the earliest next save
	ends bool      // the process may not write
}

// NewVisits loads what was saved. The process begins without it if that takes longer than half a
// second.
func NewVisits(ctx context.Context, keeper *Keeper) *Visits {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	keeper.start(ctx)
	return &Visits{keeper: keeper}
}

// Save saves what was learnt if that is worth it, at once the first time, then as rarely as a server
// does. It takes half a second at most, and fails nothing.
func (v *Visits) Save(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ends || time.Now().Before(v.next) || !v.keeper.Learner.worthSaving() {
		return
	}
	v.next = time.Now().Add(saveEvery)
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	v.ends = !v.keeper.saves(ctx)
}
