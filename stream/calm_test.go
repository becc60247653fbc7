package stream

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// starter starts a process, with a consumer that is changed before it runs.
type starter func(name string, change func(*process, *Consumer)) (*process, *Consumer)

func unchanged(*process, *Consumer) {}

// inWorld calls do with a simulated world without faults, and then ends the processes that it
// started.
func inWorld(t *testing.T, seed uint64, do func(t *testing.T, w *world, start starter)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(seed)
		w.faulty = false
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		do(t, w, func(name string, change func(*process, *Consumer)) (*process, *Consumer) {
			p := w.process(name)
			c := p.consumer()
			change(p, c)
			running.Go(func() {
				if err := c.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			return p, c
		})
		end()
		running.Wait()
		for _, violation := range w.broken {
			t.Error(violation)
		}
	})
}

// alone runs one process. It calls during after 10 s of simulated time.
func alone(t *testing.T, during func(t *testing.T, w *world, c *Consumer)) {
	aloneWith(t, unchanged, during)
}

// aloneWith is alone with a consumer that is changed before it runs.
func aloneWith(t *testing.T, change func(*process, *Consumer), during func(t *testing.T, w *world, c *Consumer)) {
	inWorld(t, 0, func(t *testing.T, w *world, start starter) {
		_, c := start("alone", change)
		time.Sleep(10 * time.Second)
		during(t, w, c)
	})
}

// do does something while no process does.
func (w *world) do(what func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what()
}

// tally returns how many writes of leases and reads of the stream were made meanwhile.
func (w *world) tally(what func()) (swaps, reads int) {
	w.do(func() { swaps, reads = w.swaps, w.reads })
	what()
	w.do(func() { swaps, reads = w.swaps-swaps, w.reads-reads })
	return swaps, reads
}

// longestLag is the greatest age of the latest heartbeat at rest: the wait until the next one is
// sent, which spread makes up to an eighth longer, and the time until that one is read.
const longestLag = DefaultHeartbeat + DefaultHeartbeat/8 + 2*DefaultPoll

// Each write of a lease and each heartbeat comes back as a record of the stream. Reading it must
// not cause another write.
func TestAStreamAtRestIsReadGently(t *testing.T) {
	alone(t, func(t *testing.T, w *world, c *Consumer) {
		swaps, reads := w.tally(func() { time.Sleep(10 * time.Minute) })
		if swaps < 250 || swaps > 350 || reads < 600 || reads > 800 {
			t.Errorf("in ten minutes %d writes of leases and %d reads", swaps, reads)
		}
		lag, known := c.Status()[0].Lag(time.Now()) // since the last heartbeat was sent
		if !known || lag > longestLag {
			t.Errorf("it lags by %s (known: %v)", lag, known)
		}
		if _, known, current := c.ProcessedUpTo(); known || !current {
			t.Errorf("never counted: known %v, current %v", known, current)
		}
		w.do(func() { w.state.Complete = true })
		time.Sleep(2 * DefaultHeartbeat)
		if before, known, current := c.ProcessedUpTo(); !known || !current || time.Since(before) > longestLag {
			t.Errorf("the watermark is %s ago (known: %v, current: %v)", time.Since(before), known, current)
		}
		w.do(func() { w.state.Label = "before" })
		time.Sleep(2 * DefaultHeartbeat)
		if _, known, _ := c.ProcessedUpTo(); known {
			t.Error("the state is of another stream, so shards of this one may lack leases, and yet the watermark is known")
		}
	})
}

// At rest a change is read within a second, or half a poll later if a heartbeat is sent meanwhile.
// From then on the shard is read as often as before.
func TestAChangeEndsTheRest(t *testing.T) {
	alone(t, func(t *testing.T, w *world, c *Consumer) {
		for i := range 20 { // at different times after the last heartbeat
			time.Sleep(time.Minute + time.Duration(i)*110*time.Millisecond)
			w.mu.Lock()
			w.change(0, false)
			changed := w.history[0][i]
			w.mu.Unlock()
			// A heartbeat puts a read off by half a poll. A read and a delivery take up to 20 ms each.
			time.Sleep(restPolls*DefaultPoll + DefaultPoll/2 + 50*time.Millisecond)
			w.do(func() {
				if !changed.settled {
					t.Error("a change waits for longer than a rest")
				}
			})
			if _, reads := w.tally(func() { time.Sleep(restAfter - 2*time.Second) }); reads < 26 {
				t.Errorf("in 8 seconds after a change, the shard was read %d times", reads)
			}
		}
	})
}

// The watermark is no older at rest if the stream shows heartbeats late, or if all records look old
// because the table's clock is behind. The shard is read no more often than it must be to see them.
func TestRestWithALateStream(t *testing.T) {
	for ahead, most := range map[time.Duration]int{0: 1100, -10 * time.Minute: 1600} {
		alone(t, func(t *testing.T, w *world, c *Consumer) {
			w.do(func() { w.late, w.ahead, w.state.Complete = 400*time.Millisecond, ahead, true })
			time.Sleep(time.Minute)
			_, reads := w.tally(func() {
				for range 6000 {
					time.Sleep(100 * time.Millisecond)
					if before, known, _ := c.ProcessedUpTo(); !known || time.Since(before) > longestLag+w.late {
						t.Errorf("the watermark is %s ago (known: %v)", time.Since(before), known)
					}
				}
			})
			if reads > most {
				t.Errorf("a table that is %s ahead: in ten minutes %d reads", ahead, reads)
			}
		})
	}
}

// Whatever the clock of the table says, nothing counts as processed that is not, and the watermark
// is known. The stream shows changes late.
func TestClockOfTheTable(t *testing.T) {
	for _, ahead := range []time.Duration{-10 * time.Minute, -2 * time.Second, 2 * time.Second, 10 * time.Minute} {
		alone(t, func(t *testing.T, w *world, c *Consumer) {
			w.do(func() { w.late, w.ahead, w.state.Complete = 5*time.Second, ahead, true })
			time.Sleep(time.Minute)
			for i := range 1000 {
				time.Sleep(100 * time.Millisecond)
				before, known, _ := c.ProcessedUpTo()
				if !known || time.Since(before) > longestLag+restPolls*DefaultPoll+w.late {
					t.Errorf("a table that is %s ahead: the watermark is %s ago (known: %v)", ahead, time.Since(before), known)
				}
				w.mu.Lock()
				w.checkBefore(before)
				if i%17 == 0 {
					w.change(i%keys, false)
				}
				w.mu.Unlock()
			}
		})
	}
}

// The bill reckons with as many reads as there are, at rest and under changes. The stream shows a
// change half a second later, as that of AWS may.
func TestReadsPerSecond(t *testing.T) {
	for _, changes := range []float64{0, 0.02, 0.1, 1} {
		alone(t, func(t *testing.T, w *world, _ *Consumer) {
			w.do(func() { w.late = 500 * time.Millisecond })
			r := rand.New(rand.NewPCG(1, 1))
			time.Sleep(time.Minute)
			_, reads := w.tally(func() {
				for until := time.Now().Add(time.Hour); time.Now().Before(until); {
					pause := time.Minute
					if changes > 0 {
						pause = time.Duration(r.ExpFloat64() / changes * float64(time.Second))
						w.do(func() { w.change(0, false) })
					}
					time.Sleep(min(pause, time.Until(until)))
				}
			})
			if got, want := float64(reads)/3600, ReadsPerSecond(changes); got < 0.9*want || got > 1.1*want {
				t.Errorf("%g changes a second: %.2f reads a second, reckoned %.2f", changes, got, want)
			}
		})
	}
}

// refusing refuses heartbeats for a while, and counts those that it takes.
type refusing struct {
	*process
	refuses atomic.Bool
	taken   atomic.Int64
}

// SendHeartbeat implements Heartbeats.
func (r *refusing) SendHeartbeat(ctx context.Context, heartbeat Heartbeat) error {
	if r.refuses.Load() {
		return errContended
	}
	r.taken.Add(1)
	return r.process.SendHeartbeat(ctx, heartbeat)
}

// A busy table that refuses heartbeats gets no more of them afterwards: their key leads to the
// shard as before. Meanwhile a shard at rest is read once a second.
func TestHeartbeatsThatAreRefused(t *testing.T) {
	r := &refusing{}
	aloneWith(t, func(p *process, c *Consumer) { r.process, c.Leases = p, r }, func(t *testing.T, w *world, c *Consumer) {
		time.Sleep(50 * time.Second)
		r.refuses.Store(true)
		if _, reads := w.tally(func() { time.Sleep(time.Minute) }); reads > 80 {
			t.Errorf("in a minute %d reads", reads)
		}
		r.refuses.Store(false)
		before := r.taken.Load()
		time.Sleep(10 * time.Second)
		if sent := r.taken.Load() - before; sent < 3 || sent > 8 {
			t.Errorf("in 10 seconds %d heartbeats", sent)
		}
		if lag, known := c.Status()[0].Lag(time.Now()); !known || lag > longestLag {
			t.Errorf("it lags by %s (known: %v)", lag, known)
		}
	})
}

// Under load, leases are written no more often than at rest.
func TestCheckpointsAreRare(t *testing.T) {
	alone(t, func(t *testing.T, w *world, _ *Consumer) {
		swaps, _ := w.tally(func() {
			for range 600 {
				w.do(func() { w.change(0, false) })
				time.Sleep(100 * time.Millisecond)
			}
		})
		if swaps > 40 {
			t.Errorf("in a minute %d writes of leases", swaps)
		}
	})
}

// Drain returns once all earlier changes are processed, and not before, however late the stream
// shows them.
func TestDrain(t *testing.T) {
	alone(t, func(t *testing.T, w *world, c *Consumer) {
		for i := range 20 {
			w.mu.Lock()
			w.late = time.Duration(i%2) * 10 * time.Second
			for range 50 {
				w.change(0, false)
			}
			last := w.history[0][len(w.history[0])-1]
			w.mu.Unlock()
			time.Sleep(time.Nanosecond)
			if err := Drain(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			w.do(func() {
				if !last.settled {
					t.Error("drained before the last change was processed")
				}
			})
		}
	})
}

// Switching streams off and on gives the table another stream. The changes between the two are
// lost, and the new stream is read from its beginning. Of two processes, one finds the gap. By then
// the state names the new stream: a rebuild that begins at once for the gap is one of that stream.
func TestAnotherStream(t *testing.T) {
	inWorld(t, 0, func(t *testing.T, w *world, start starter) {
		var labels []string
		for _, name := range []string{"one", "two"} {
			start(name, func(_ *process, c *Consumer) {
				c.OnGap = func(Gap) { w.do(func() { labels = append(labels, w.state.Label) }) }
			})
		}
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		w.state.Complete, w.state.Since = true, time.Now()
		w.state.Version++
		w.label, w.leases = "later", map[string]Lease{}
		w.shards = append(w.shards, &simShard{Shard: Shard{ID: "new"}, to: keys, open: true, listed: true})
		w.shards[0].listed, w.shards[0].open = false, false
		w.history = [keys][]*simRecord{}
		w.change(0, false)
		changed := w.history[0][0]
		w.mu.Unlock()
		time.Sleep(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if !changed.settled || w.state.Label != "later" {
			t.Errorf("the new stream is not read: %+v", w.state)
		}
		if w.state.Complete || w.state.Gap == nil || !strings.Contains(w.state.Gap.Reason, "another stream") {
			t.Errorf("no gap is recorded: %+v", w.state)
		}
		if !slices.Equal(labels, []string{"later"}) {
			t.Errorf("gaps were found while the state named the streams %q", labels)
		}
	})
}

// Drain waits until every change committed before the call is processed, by whichever processes
// hold the leases. It retries temporary errors until the context ends.
func Drain(ctx context.Context, c *Consumer) error {
	var fence Fence
	for {
		state, err := c.Journal.State(ctx)
		var leases []Lease
		if err == nil && state.Label != "" {
			leases, err = c.Leases.List(ctx, state.Label)
		}
		switch {
		case err != nil && !Passes(err):
			return err
		case err == nil && fence == nil:
			fence = FenceOf(leases)
		case err == nil && fence.Passed(leases):
			return nil
		}
		if err := task.Wait(ctx, c.heartbeat()/4); err != nil {
			return err
		}
	}
}
