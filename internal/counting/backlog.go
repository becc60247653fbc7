package counting

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// While someone waits for the counts, the stream is read more often than at other times.
const (
	waitingPoll      = 25 * time.Millisecond
	waitingHeartbeat = 250 * time.Millisecond
)

// tellEvery is the time between two reports of what is waited for.
const tellEvery = 5 * time.Second

// Backlog is what is still to be counted.
type Backlog struct {
	// Behind is how far counting is behind, 0 if Rebuilding.
	Behind time.Duration
	// Rebuilding says that all comments of the table are being counted, as far as is known.
	Rebuilding bool
}

// Until counts while the work goes on, and then until everything is counted that was written before
// its end, by whichever process. It returns how long that took from the end of the work. Every 5
// seconds it tells what it waits for.
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

// await waits until everything that was written before the call is counted. The stream itself
// proves that: no clock is compared. end, when the work ended, is only for telling how much is
// left.
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

// backlogOf says what is left of what was written before the end.
func backlogOf(leases []stream.Lease, end time.Time) Backlog {
	upTo, known := stream.ProcessedUpTo(leases)
	if !known || !upTo.Before(end) {
		return Backlog{Rebuilding: true}
	}
	return Backlog{Behind: end.Sub(upTo)}
}
