package webhooks

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/task"
)

// Pace is how long to wait after a failed attempt: First, then twice as long each time, at most
// Longest. Each wait is random, between half of that and all of it. A longer Retry-After of the
// receiver is respected, up to Longest.
type Pace struct{ First, Longest time.Duration }

// DefaultPace is the pace of deliveries.
var DefaultPace = Pace{time.Second, time.Hour}

// after returns the wait after a number of failed attempts.
func (p Pace) after(attempts int) time.Duration {
	wait := min(p.First<<min(attempts-1, 20), p.Longest)
	return wait/2 + rand.N(wait/2+1)
}

// Outcome is the result of an attempt to deliver an event.
type Outcome string

// The outcomes of an attempt.
const (
	// Delivered means that the receiver answered with success.
	Delivered Outcome = "delivered"
	// Failed means that the event is retried, DeadLettered that it is not.
	Failed       Outcome = "failed"
	DeadLettered Outcome = "dead_lettered"
)

// delivery is a hook that this process delivers.
type delivery struct {
	hook Hook
	send func(context.Context, Hook, ...outbox.Event) error
	// dead stores an event as a dead letter, with the reason.
	dead  func(context.Context, outbox.Event, error) error
	pace  Pace
	tried func(Outcome)

	mu       sync.Mutex
	progress Progress
}

// change changes the progress of a lane.
func (d *delivery) change(lane int, do func(*LaneProgress)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do(&d.progress.Lanes[lane])
}

func (d *delivery) snapshot() Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.progress
}

// deliver sends events in one request, and retries until that succeeds or the hook gives up. Its
// error is the context's, or of storing a dead letter. The first event decides when to give up.
func (d *delivery) deliver(ctx context.Context, lane int, events []outbox.Event) error {
	e, last := events[0], events[len(events)-1].Number
	began := e.At
	if d.hook.Replayed.After(began) { // a replay restarts the time
		began = d.hook.Replayed
	}
	if err := d.resume(ctx, lane, e); err != nil {
		return err
	}
	for {
		err := d.send(ctx, d.hook, events...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			d.tried(Delivered)
			d.change(lane, func(l *LaneProgress) {
				*l = l.at(last, "")
				l.Delivered += len(events)
			})
			return nil
		}
		if time.Since(began) > d.hook.GiveUp {
			for _, e := range events {
				if err := d.dead(ctx, e, err); err != nil {
					return err
				}
			}
			d.tried(DeadLettered)
			d.change(lane, func(l *LaneProgress) {
				*l = l.at(last, err.Error())
				l.DeadLettered += len(events)
			})
			return nil
		}
		d.tried(Failed)
		var wait time.Duration
		d.change(lane, func(l *LaneProgress) {
			l.Failing, l.Attempts, l.Since, l.LastError = e.ID, l.Attempts+1, e.At, err.Error()
			wait = d.pace.after(l.Attempts)
			if asked, ok := errors.AsType[statusError](err); ok {
				wait = max(wait, min(asked.wait, d.pace.Longest))
			}
			l.Next = time.Now().Add(wait)
		})
		if err := task.Wait(ctx, wait); err != nil {
			return err
		}
	}
}

// resume waits until a retry is due whose last attempt was made by another process. It waits no
// longer than after a failure here: the other process's clock may have been ahead.
func (d *delivery) resume(ctx context.Context, lane int, e outbox.Event) error {
	var wait time.Duration
	d.change(lane, func(l *LaneProgress) {
		if l.Failing != e.ID {
			*l = l.at(l.Position, l.LastError)
			return
		}
		wait = min(time.Until(l.Next), d.pace.after(l.Attempts))
	})
	return task.Wait(ctx, wait)
}
