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

// Pace is how long to wait after a try that failed: First, twice as long each further time, and at most
// Longest. Each wait is drawn between half of that and all. A receiver that asks for a longer one gets it, but
// at most Longest.
type Pace struct{ First, Longest time.Duration }

// DefaultPace is the pace of deliveries.
var DefaultPace = Pace{time.Second, time.Hour}

// after returns the wait after a number of tries that failed.
func (p Pace) after(attempts int) time.Duration {
	wait := p.Longest
	if shift := attempts - 1; shift < 20 {
		wait = min(p.First<<shift, p.Longest)
	}
	return wait/2 + rand.N(wait/2+1)
}

// Outcome is what came of a try to deliver an event.
type Outcome string

// The outcomes of a try.
const (
	// Delivered is a try that the receiver answered with success.
	Delivered Outcome = "delivered"
	// Failed is one after which the event is tried again, DeadLettered one after which it is not.
	Failed       Outcome = "failed"
	DeadLettered Outcome = "dead_lettered"
)

// delivery is a hook that this process delivers.
type delivery struct {
	hook Hook
	send func(context.Context, Hook, ...outbox.Event) error
	// dead keeps an event that is given up, with the reason.
	dead func(context.Context, outbox.Event, error) error
	pace Pace
	// tried hears of each try.
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

// take delivers a batch of a lane, request by request.
func (d *delivery) take(ctx context.Context, lane int, batch outbox.Batch) error {
	for _, events := range d.hook.requests(batch.Events) {
		if err := d.deliver(ctx, lane, events); err != nil {
			return err
		}
	}
	d.change(lane, func(l *LaneProgress) { l.Position = batch.Last })
	return nil
}

// deliver tries to deliver events by one request until that succeeds or takes too long. Its error is that
// of the context, or of keeping a dead letter. The first event stands for all.
func (d *delivery) deliver(ctx context.Context, lane int, events []outbox.Event) error {
	e, last := events[0], events[len(events)-1].Number
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
				*l = LaneProgress{Position: last, Delivered: l.Delivered + len(events), DeadLettered: l.DeadLettered}
			})
			return nil
		}
		if d.givesUp(e, time.Now()) {
			for _, e := range events {
				if err := d.dead(ctx, e, err); err != nil {
					return err
				}
			}
			d.tried(DeadLettered)
			d.change(lane, func(l *LaneProgress) {
				*l = LaneProgress{Position: last, Delivered: l.Delivered, DeadLettered: l.DeadLettered + len(events), LastError: err.Error()}
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

// resume waits until an event is due whose delivery failed in another process, but no longer than after
// a failure here: the clock of that process may have been ahead.
func (d *delivery) resume(ctx context.Context, lane int, e outbox.Event) error {
	var wait time.Duration
	d.change(lane, func(l *LaneProgress) {
		if l.Failing != e.ID {
			l.Failing, l.Attempts, l.Next, l.Since = "", 0, time.Time{}, time.Time{}
			return
		}
		wait = min(time.Until(l.Next), d.pace.after(l.Attempts))
	})
	return task.Wait(ctx, wait)
}

// givesUp reports whether an event that was refused is not tried again. A replay begins anew.
func (d *delivery) givesUp(e outbox.Event, now time.Time) bool {
	began := e.At
	if d.hook.Replayed.After(began) {
		began = d.hook.Replayed
	}
	return now.Sub(began) > d.hook.GiveUp
}
