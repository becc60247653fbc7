package webhooks

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/dynamo/outbox"
)

// A process that takes a hook over waits no longer than after a failure of its own, though the one
// before had a clock that was five minutes ahead.
func TestNextTryByAClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &delivery{pace: DefaultPace}
		e := outbox.Event{ID: "evt_1"}
		d.progress.Lanes[2] = LaneProgress{Failing: e.ID, Attempts: 1, Next: time.Now().Add(5 * time.Minute)}
		began := time.Now()
		if err := d.resume(t.Context(), 2, e); err != nil || time.Since(began) > DefaultPace.First {
			t.Errorf("it waited for %v: %v", time.Since(began), err)
		}
	})
}
