package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// What some clients do on purpose or by mistake does not mislead the limiter. Afterwards it handles
// overload as before, and refuses nothing that the machine can carry.
func TestAttacks(t *testing.T) {
	for name, attack := range map[string]func(*testing.T, *machine){
		"bursts after pauses": func(t *testing.T, m *machine) {
			for range 20 {
				time.Sleep(5 * time.Second)
				m.arrive(1e6, 200*time.Microsecond)
			}
		},
		"bursts without end": func(t *testing.T, m *machine) {
			for range 200 {
				time.Sleep(200 * time.Millisecond)
				m.arrive(1e6, 100*time.Microsecond)
			}
		},
		"10,000 that hang up at once": func(t *testing.T, m *machine) { m.hangUp(10_000, 0) },
		"10,000 that hang up soon":    func(t *testing.T, m *machine) { m.hangUp(10_000, 3*time.Millisecond) },
		"many that wait for their answers": func(t *testing.T, m *machine) {
			m.crowd(1000, 2*time.Second, 20*time.Millisecond)
		},
		"requests that do nothing": func(t *testing.T, m *machine) {
			m.mix = func(*rand.Rand) simulatedRequest {
				return simulatedRequest{class: UnmeasuredLoad, cpu: 50 * time.Microsecond}
			}
			m.arrive(20*simulatedCapacity, 5*time.Second)
		},
		"a machine that sleeps for an hour": func(t *testing.T, m *machine) {
			m.mix = tableReads(time.Hour) // by the clock, requests in flight take that long
			m.arrive(simulatedCapacity, 20*time.Millisecond)
		},
		"the same under overload": func(t *testing.T, m *machine) {
			m.arrive(3*simulatedCapacity, 2*time.Second)
			m.mix = tableReads(time.Hour)
			m.arrive(10*simulatedCapacity, 20*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, m *machine) {
				m.arrive(simulatedCapacity/2, 5*time.Second)
				attack(t, m)
				t.Logf("%+v, usual %v", m.limiter.State(), m.limiter.gradient.usual[1])
				m.mix = pagesLoad
				m.arrive(simulatedCapacity/2, time.Second)
				if got := m.arrive(simulatedCapacity/2, 5*time.Second); got.refused > 0 || got.p99 > 45*time.Millisecond {
					t.Errorf("a second later: %+v", got)
				}
				m.arrive(3*simulatedCapacity, 4*time.Second)
				if got := m.arrive(3*simulatedCapacity, 5*time.Second); got.goodput < 0.9*simulatedCapacity || got.p99 > 67*time.Millisecond || got.waited > got.refused/100 {
					t.Errorf("under overload: %+v", got)
				}
			})
		})
	}
}

// hangUp sends requests at a hundred times the capacity. Their clients give up after the given
// time.
func (m *machine) hangUp(requests int, after time.Duration) {
	var group sync.WaitGroup
	for range requests {
		time.Sleep(time.Second / simulatedCapacity / 100)
		group.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			place, err := enterLimiter(ctx, m.limiter)
			if err != nil {
				return
			}
			<-ctx.Done()
			place.Leave(UnmeasuredLoad)
		})
	}
	group.Wait()
}

// crowd lets clients send requests for a while. Each sends again after a pause, once it has its
// answer or is refused.
func (m *machine) crowd(clients int, lasting, pause time.Duration) {
	var group sync.WaitGroup
	end := time.Now().Add(lasting)
	for seed := range clients {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			for time.Now().Before(end) {
				m.serve(pagesLoad(r))
				time.Sleep(pause)
			}
		})
	}
	group.Wait()
}

// Writes are bounded like reads, even if nothing is ever read.
func TestWrites(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		m.mix = func(r *rand.Rand) simulatedRequest {
			p := pagesLoad(r)
			p.class = loadClassOf(0, 1)
			return p
		}
		unloaded := m.arrive(simulatedCapacity/2, 5*time.Second)
		m.arrive(3*simulatedCapacity, 2*time.Second)
		if got := m.arrive(3*simulatedCapacity, 5*time.Second); got.goodput < 0.9*simulatedCapacity || got.p99 > 3*unloaded.p99 {
			t.Errorf("%+v, and %+v without load", got, unloaded)
		}
	})
}

// Each request is compared with those that do about the same work.
func TestClasses(t *testing.T) {
	seen := map[LoadClass]bool{}
	for _, alike := range [][]LoadClass{
		{loadClassOf(0, 0), UnmeasuredLoad},
		{loadClassOf(0.5, 0)},
		{loadClassOf(1, 0), loadClassOf(1.5, 0)},
		{loadClassOf(2, 0), loadClassOf(3.5, 0)},
		{loadClassOf(600, 0), loadClassOf(1e6, 0)},
		{loadClassOf(0, 1), loadClassOf(5, 1)},
		{loadClassOf(0, 2), loadClassOf(0, 3)},
		{loadClassOf(0, 8), loadClassOf(0, 1000)},
	} {
		for _, class := range alike {
			if class != alike[0] || class < 0 || class >= loadClasses {
				t.Errorf("%v", alike)
			}
		}
		if seen[alike[0]] {
			t.Errorf("%v are like others", alike)
		}
		seen[alike[0]] = true
	}
}

// A queue full of clients that hung up has room again.
func TestQueueOfTheGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(4, 4, 2)
		for range 4 {
			must.Get(enterLimiter(t.Context(), limiter))(t)
		}
		leaving, hangUp := context.WithCancel(t.Context())
		for range 4 {
			go func() { _, _ = enterLimiter(leaving, limiter) }()
		}
		synctest.Wait()
		if _, err := enterLimiter(t.Context(), limiter); !errors.Is(err, ErrFull) {
			t.Fatalf("%v, want the queue to be full", err)
		}
		hangUp()
		synctest.Wait()
		if _, err := enterLimiter(t.Context(), limiter); !errors.Is(err, ErrWaited) {
			t.Errorf("%v, want room to wait", err)
		}
	})
}
