package stream

import (
	"context"
	"testing"
	"time"
)

// ahead is a process that sees leases of another one, whose clock is ahead.
type ahead struct {
	*process
	by time.Duration
}

// List implements Leases.
func (a ahead) List(ctx context.Context, label string) ([]Lease, error) {
	leases, err := a.process.List(ctx, label)
	for i := range leases {
		if leases[i].Owner != a.name && !leases[i].CaughtUp.IsZero() {
			leases[i].CaughtUp = leases[i].CaughtUp.Add(a.by)
		}
	}
	return leases, err
}

// If a process is killed whose clock was ahead, nothing counts as processed that it did not
// process.
func TestTakeoverFromAClockThatIsAhead(t *testing.T) {
	inWorld(t, 0, func(t *testing.T, w *world, start starter) {
		first, _ := start("first", unchanged)
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		w.state.Complete = true
		first.dead, w.late = true, 10*time.Second
		for range 20 {
			w.change(1, false)
		}
		w.mu.Unlock()
		_, second := start("second", func(p *process, c *Consumer) { c.Leases = ahead{p, 10 * time.Minute} })
		known := false
		for range 3000 {
			time.Sleep(10 * time.Millisecond)
			var before time.Time
			before, known, _ = second.ProcessedUpTo()
			w.do(func() { w.checkBefore(before) })
		}
		if !known {
			t.Error("the watermark is still unknown")
		}
	})
}

// If a process is killed, another reads its shard on within 10 seconds.
func TestKilledReaderIsTakenOver(t *testing.T) {
	const most = 10 * time.Second
	var worst time.Duration
	for seed := range uint64(150) {
		inWorld(t, 3*seed, func(t *testing.T, w *world, start starter) { // a world that publishes at once
			first, _ := start("first", unchanged)
			time.Sleep(10 * time.Second)
			start("second", unchanged)
			time.Sleep(time.Minute + time.Duration(seed)*130*time.Millisecond)
			w.mu.Lock()
			if owner := w.leases["s0"].Owner; owner != "first" {
				t.Errorf("seed %d: %q reads the shard", seed, owner)
			}
			first.dead = true
			w.change(1, false)
			last := w.history[1][len(w.history[1])-1]
			w.mu.Unlock()
			for killed := time.Now(); ; time.Sleep(20 * time.Millisecond) {
				var settled bool
				w.do(func() { settled = last.settled })
				took := time.Since(killed)
				worst = max(worst, took)
				if settled {
					break
				}
				if took > most {
					t.Errorf("seed %d: not read %s after the kill", seed, took)
					break
				}
			}
		})
	}
	t.Logf("at most %s", worst)
}
