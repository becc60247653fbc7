package counts

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/stream"
)

// What is logged of a lag: that it is long, that it doubled, that it is over; and nothing twice.
func TestLagToTell(t *testing.T) {
	told := time.Duration(0)
	for i, row := range []struct {
		lag  time.Duration
		tell bool
		why  string
	}{
		{time.Second, false, "as usual"},
		{59 * time.Second, false, "not yet"},
		{time.Minute, true, "a minute"},
		{90 * time.Second, false, "known already"},
		{2 * time.Minute, true, "doubled"},
		{3 * time.Minute, false, "known already"},
		{65 * time.Second, false, "not over yet"},
		{time.Hour, true, "far more than doubled"},
		{time.Second, true, "over"},
		{time.Second, false, "known already"},
		{2 * time.Minute, true, "again"},
	} {
		var tell bool
		if told, tell = lagToLog(told, row.lag); tell != row.tell {
			t.Errorf("%d, %v: told is %v; %s", i, row.lag, tell, row.why)
		}
	}
}

// Counts that are late are logged, but not by leases that were left behind where a function counts.
func TestLagOfLeases(t *testing.T) {
	for _, function := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			table := &fakeTable{leases: []stream.Lease{{CaughtUp: time.Now().Add(-time.Hour)}}}
			if function {
				table.state.Scheduled = time.Now().Add(-time.Minute)
			}
			ctx, stop := context.WithTimeout(t.Context(), lagEvery+time.Second)
			defer stop()
			var said bytes.Buffer
			err := newRunner(table, &said).watchLag(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(said.String(), "the statistics are behind the comments") == function {
				t.Errorf("with a function %v: %v, %s", function, err, &said)
			}
		})
	}
}
