package live

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

const (
	// mostMissed bounds the changes that a resuming subscriber gets. One that missed more has to read
	// the list again.
	mostMissed = 100
	// mostReads bounds the reads of the log that find them, of perRead items each.
	mostReads = 40
	perRead   = 100
	// mostWaiting bounds the missed events that wait for all subscribers, in bytes. An event has
	// perEvent, and its texts. A subscriber that has not read its own within readWithin makes room for
	// others.
	mostWaiting = 64 << 20
	perEvent    = 1 << 10
	readWithin  = 20 * time.Second
)

var errMissedMuch = comment.Errorf(comment.BadInput, "too much happened since this position: subscribe to what happens now, and read again what you show")

// resume begins a subscription with the events since its position, up to until.
func (h *Hub) resume(ctx context.Context, s *Subscription, until outbox.Position) error {
	if s.from == (outbox.Position{}) {
		return nil
	}
	if err := h.log.Check(ctx, s.from); err != nil {
		return err
	}
	missed, err := h.missed(ctx, s, until)
	if err != nil {
		return err
	}
	ids := make([]comment.ID, len(missed))
	for i, c := range missed {
		ids[i] = c.id
	}
	found, err := h.readComments(ctx, ids)
	if err != nil {
		return err
	}
	at, bytes, first := s.from, int64(0), []Delivery(nil)
	for _, c := range missed {
		at[outbox.LaneOf(c.id)] = c.at
		if event := c.eventFor(s.filter, found[c.id]); event != nil {
			d := Delivery{Position: at.String(), value: event, missed: perEvent}
			if event.Comment != nil {
				d.missed += int64(event.Comment.TextBytes())
			}
			first, bytes = append(first, d), bytes+d.missed
		}
	}
	if h.waiting.Add(bytes) > mostWaiting && !h.makeRoom() {
		h.waiting.Add(-bytes)
		return errUnavailable
	}
	s.begin(first...)
	return nil
}

// makeRoom ends subscriptions that are slow to read what they have missed. It reports whether the
// rest has room.
func (h *Hub) makeRoom() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(ErrSlow, func(s *Subscription) bool {
		return len(s.queue) > 0 && s.queue[0].missed > 0 && time.Since(s.begun) > readWithin
	})
	return h.waiting.Load() <= mostWaiting
}

// missed returns the changes of the product that a subscription has missed, up to a position, lane
// by lane.
func (h *Hub) missed(ctx context.Context, s *Subscription, until outbox.Position) (out []change, err error) {
	reads := 0
	for lane := range until {
		var events []outbox.Event
		for after := s.from[lane]; after < until[lane]; reads++ {
			if reads == mostReads {
				return nil, errMissedMuch
			}
			batch, err := h.log.Read(ctx, lane, after, perRead) // empty if a replica lags: then it is read again
			switch {
			case err != nil:
				return nil, err
			case batch.Missing:
				return nil, errMissing
			}
			for _, e := range batch.Events {
				if e.Product == s.topic.product && e.Number <= until[lane] {
					events = append(events, e)
				}
			}
			after = batch.Last
		}
		if out = append(out, changesIn(events)...); len(out) > mostMissed {
			return nil, errMissedMuch
		}
	}
	return out, nil
}
