package command

import (
	"testing"
	"testing/synctest"
	"time"
)

// Everything that a server runs beside its table ends together. A collector that hangs delays the
// end only once, however many exporters wait for it.
func TestSurroundingsEndTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s endings
		for _, waits := range []time.Duration{3 * time.Second, 0, 5 * time.Second} {
			s = append(s, func() { time.Sleep(waits) })
		}
		began := time.Now()
		if s.close(); time.Since(began) != 5*time.Second {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}
