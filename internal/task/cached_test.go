package task

import (
	"context"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/faulttest"
)

// Values that were read before the machine was suspended are read again, though the monotonic clock
// stood still.
func TestSuspended(t *testing.T) {
	reads := 0
	c := NewCached(time.Hour, func(context.Context) (int, error) {
		reads++
		return reads, nil
	})
	for i, want := range []int{1, 1, 2} { // after 40 minutes, and after 80
		if n, err := c.Get(t.Context()); n != want || err != nil {
			t.Errorf("look %d: it was read %d times (%v), want %d", i, n, err, want)
		}
		c.since = faulttest.Suspended(c.since, -40*time.Minute)
	}
}
