package command

import (
	"testing"
	"testing/synctest"
	"time"
)

// What a server has beside its table ends together: a collector that hangs holds up its end once,
// however many exporters wait for it.
func TestSurroundingsEndTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s surroundings
		for _, waits := range []time.Duration{3 * time.Second, 0, 5 * time.Second} {
			s.ends = append(s.ends, func() { time.Sleep(waits) })
		}
		began := time.Now()
		if s.close(); time.Since(began) != 5*time.Second {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}
