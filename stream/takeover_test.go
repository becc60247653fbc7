package stream

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

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
				p := &process{world: w, name: name, calls: map[string]int{}}
				c := &Consumer{Source: p, Leases: p, Journal: p, Handler: p, Logger: slog.New(slog.DiscardHandler), owner: name}
				c.random = func(below time.Duration) time.Duration {
					w.mu.Lock()
					defer w.mu.Unlock()
					return time.Duration(p.draw("random", int(below)))
				}
				running.Go(func() { _ = c.Run(ctx) })
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
				w.mu.Lock()
				settled := last.settled
				w.mu.Unlock()
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
