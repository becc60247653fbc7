package counts

import (
	"context"
	"time"

	"github.com/talkback/talkback/internal/task"
)

const (
	// lagEvery is the time between two readings of the lag.
	lagEvery = 10 * time.Second
	// worryingLag is the smallest lag that is logged.
	worryingLag = time.Minute
)

// watchLag logs when the statistics are far behind the comments, and when they have caught up.
func (r *Runner) watchLag(ctx context.Context) error {
	for logged := time.Duration(0); ; {
		if err := task.Wait(ctx, lagEvery); err != nil {
			return err
		}
		state, leases, err := r.leases.Current(ctx)
		if err != nil {
			return err
		}
		upTo, known := state.ProcessedUpTo(leases)
		if !known {
			continue
		}
		lag := time.Since(upTo)
		next, due := lagToLog(logged, lag)
		switch {
		case due && next > 0:
			r.log.Warn("the statistics are behind the comments", "lag", lag.Round(time.Second))
		case due:
			r.log.Info("the statistics have caught up with the comments", "lag", lag.Round(time.Millisecond))
		}
		logged = next
	}
}

// lagToLog decides whether to log a lag, given the last lag that was logged, 0 for none. It logs a
// lag of a minute or more, then each that is at least twice the last, and the end. next is the
// value of logged for the next call.
func lagToLog(logged, lag time.Duration) (next time.Duration, due bool) {
	switch {
	case lag >= worryingLag && lag >= 2*logged:
		return lag, true
	case logged > 0 && lag < worryingLag:
		return 0, true
	}
	return logged, false
}
