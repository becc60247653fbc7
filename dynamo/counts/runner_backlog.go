package counts

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// While a caller waits for the counts, the stream is read more often.
const (
	waitingPoll      = 25 * time.Millisecond
	waitingHeartbeat = 250 * time.Millisecond
)

// tellEvery is the time between two reports to a waiting caller.
const tellEvery = 5 * time.Second

// Backlog is the work that is still to be counted.
type Backlog struct {
	// Behind is the lag of counting, 0 if Rebuilding.
	Behind time.Duration
	// Rebuilding means that, as far as known, all comments of the table are being counted.
	Rebuilding bool
}

// Until counts while work runs, and then until everything written before its end is counted, by
// this or any other process. It returns how long that took after the end of work. Every 5 seconds
// it calls tell with the backlog.
func (r *Runner) Until(ctx context.Context, work func(context.Context) error, tell func(Backlog)) (waited time.Duration, err error) {
	heartbeat, poll := r.Consumer.Heartbeat, r.Consumer.Poll
	defer func() { r.Consumer.Heartbeat, r.Consumer.Poll = heartbeat, poll }()
	r.Consumer.Heartbeat = waitingHeartbeat
	if r.local {
		r.Consumer.Poll = waitingPoll
	}
	err = r.Beside(ctx, func(ctx context.Context) error {
		if err := work(ctx); err != nil {
			return err
		}
		end := time.Now()
		if err := r.await(ctx, end, tell); err != nil {
			return err
		}
		waited = time.Since(end)
		return nil
	})
	return waited, err
}

// await waits until everything written before the call is counted. The stream itself proves that,
// without comparing clocks. end is the end of the work, and only serves to report the backlog.
func (r *Runner) await(ctx context.Context, end time.Time, tell func(Backlog)) error {
	var fence stream.Fence
	for next := end.Add(tellEvery); ; {
		state, leases, err := r.leases.Current(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && comment.KindOf(err) == comment.Internal:
			return err
		case err == nil && fence == nil:
			fence = stream.FenceOf(leases)
		case err == nil && state.Complete && fence.Passed(leases):
			return nil
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(tellEvery)
			tell(backlogOf(leases, end))
		}
		_ = task.Wait(ctx, waitingHeartbeat) // the loop checks the context
	}
}

// backlogOf returns the backlog of writes before the end.
func backlogOf(leases []stream.Lease, end time.Time) Backlog {
	upTo, known := stream.ProcessedUpTo(leases)
	if !known || !upTo.Before(end) {
		return Backlog{Rebuilding: true}
	}
	return Backlog{Behind: end.Sub(upTo)}
}
