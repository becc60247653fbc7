package stream

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
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

// If a process is killed whose clock was ahead, nothing counts as processed that it did not process.
func TestTakeoverFromAClockThatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(0)
		w.faulty = false
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		start := func(name string, by time.Duration) (*process, *Consumer) {
			p := w.process(name)
			c := p.consumer()
			c.Leases = ahead{p, by}
			running.Go(func() { _ = c.Run(ctx) })
			return p, c
		}
		first, _ := start("first", 0)
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		w.state.Complete = true
		first.dead, w.late = true, 10*time.Second
		for range 20 {
			w.change(1, false)
		}
		w.mu.Unlock()
		_, second := start("second", 10*time.Minute)
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
		end()
		running.Wait()
		for _, violation := range w.broken {
			t.Error(violation)
		}
	})
}

// If a process is killed, another reads its shard on within 10 seconds.
func TestKilledReaderIsTakenOver(t *testing.T) {
	const most = 10 * time.Second
	var worst time.Duration
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(3 * seed) // 3*seed gives a world that publishes at once
			w.faulty = false
			ctx, end := context.WithCancel(t.Context())
			var running sync.WaitGroup
			start := func(name string) *process {
				p := w.process(name)
				running.Go(func() { _ = p.consumer().Run(ctx) })
				return p
			}
			first := start("first")
			time.Sleep(10 * time.Second)
			start("second")
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
			end()
			running.Wait()
			for _, violation := range w.broken {
				t.Error(violation)
			}
		})
	}
	t.Logf("at most %s", worst)
}
