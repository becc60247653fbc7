package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// machine is a server with a table: requests need a processor before and after they read, and wait
// for the table between. So it handles processors / cpu requests a second.
type machine struct {
	limiter    *Limiter
	processors chan struct{}
	r          *rand.Rand
	mix        func(r *rand.Rand) simulatedRequest

	mu      sync.Mutex
	took    []time.Duration // from arrival, of answered requests
	refused []time.Duration
	failed  error
}

// simulatedRequest is what a request needs.
type simulatedRequest struct {
	class      LoadClass
	cpu, table time.Duration
}

func newMachine(mix func(r *rand.Rand) simulatedRequest) *machine {
	return &machine{
		limiter: newLimiter(0, 256, 2), processors: make(chan struct{}, 2),
		r: rand.New(rand.NewPCG(1, 2)), mix: mix,
	}
}

// pagesLoad are requests of one kind, whose duration varies: about 5 ms of a processor and 10 ms of
// the table.
func pagesLoad(r *rand.Rand) simulatedRequest {
	return simulatedRequest{class: 1, cpu: variedTime(r, 5*time.Millisecond), table: variedTime(r, 10*time.Millisecond)}
}

func variedTime(r *rand.Rand, about time.Duration) time.Duration {
	return time.Duration(float64(about) * (0.7 + 0.6*r.Float64()))
}

// arrive sends perSecond requests a second for a while, at random moments and independent of their
// outcomes.
func (m *machine) arrive(perSecond float64, lasting time.Duration) simulatedOutcome {
	m.took, m.refused = nil, nil
	var group sync.WaitGroup
	end := time.Now().Add(lasting)
	for time.Now().Before(end) {
		time.Sleep(time.Duration(m.r.ExpFloat64() / perSecond * float64(time.Second)))
		needs := m.mix(m.r)
		group.Go(func() { m.serve(needs) })
	}
	group.Wait()
	return m.outcome(lasting)
}

// enterLimiter waits for the turn of a request.
func enterLimiter(ctx context.Context, limiter *Limiter) (*Place, error) {
	turn, err := limiter.Enter()
	if err != nil {
		return nil, err
	}
	return turn.Wait(ctx)
}

func (m *machine) serve(needs simulatedRequest) {
	arrived := time.Now()
	place, err := enterLimiter(context.Background(), m.limiter)
	if err == nil {
		m.work(needs.cpu / 2)
		time.Sleep(needs.table)
		m.work(needs.cpu / 2)
		place.Leave(needs.class)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch took := time.Since(arrived); {
	case err == nil:
		m.took = append(m.took, took)
	case errors.Is(err, ErrFull), errors.Is(err, ErrWaited):
		m.refused = append(m.refused, took)
	default:
		m.failed = err
	}
}

func (m *machine) work(cpu time.Duration) {
	m.processors <- struct{}{}
	time.Sleep(cpu)
	<-m.processors
}

// simulatedOutcome counts the results of requests.
type simulatedOutcome struct {
	goodput float64 // answers a second
	p99     time.Duration
	refused int
	waited  int // refused requests that took 10 ms or more
}

func (m *machine) outcome(lasting time.Duration) simulatedOutcome {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.took)
	slices.Sort(m.refused)
	at, _ := slices.BinarySearch(m.refused, 10*time.Millisecond)
	return simulatedOutcome{
		goodput: float64(len(m.took)) / lasting.Seconds(), p99: m.took[len(m.took)*99/100],
		refused: len(m.refused), waited: len(m.refused) - at,
	}
}

// simulatedCapacity is how many pages a machine handles per second.
const simulatedCapacity = 400

// simulate runs a machine in simulated time.
func simulate(t *testing.T, run func(t *testing.T, m *machine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(pagesLoad)
		run(t, m)
		if m.failed != nil {
			t.Error(m.failed)
		}
		if state := m.limiter.State(); state.InFlight != 0 || state.Queued != 0 {
			t.Errorf("%d places and %d waiters are left behind", state.InFlight, state.Queued)
		}
	})
}

// However many requests come, as many are answered as without overload, and nearly as quickly; the
// others are refused at once. Afterwards, nothing that the machine can handle is refused.
func TestOverload(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		unloaded := m.arrive(simulatedCapacity/2, 10*time.Second)
		for _, times := range []float64{1, 3, 10} {
			got := m.arrive(times*simulatedCapacity, 5*time.Second)
			t.Logf("%v times the capacity: %+v", times, got)
			if got.goodput < 0.9*simulatedCapacity {
				t.Errorf("%v times the capacity: %.0f answers a second, want 90 %% of %d", times, got.goodput, simulatedCapacity)
			}
			if got.p99 > 3*unloaded.p99 {
				t.Errorf("%v times the capacity: one in 100 takes %v, and %v without load", times, got.p99, unloaded.p99)
			}
			if got.waited > got.refused/100 {
				t.Errorf("%v times the capacity: %d of %d refusals took 10 ms", times, got.waited, got.refused)
			}
		}
		m.arrive(simulatedCapacity/2, time.Second)
		if after := m.arrive(simulatedCapacity/2, 5*time.Second); after.refused > 0 || after.p99 > 2*unloaded.p99 {
			t.Errorf("after the overload: %+v", after)
		}
	})
}

// A server that starts under overload has never been idle.
func TestStartUnderOverload(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		m.arrive(3*simulatedCapacity, time.Second)
		if got := m.arrive(3*simulatedCapacity, 9*time.Second); got.goodput < 0.9*simulatedCapacity || got.p99 > 67*time.Millisecond {
			t.Errorf("after a second: %+v", got)
		}
	})
}

// A cause that slows some requests does not lower the limit for others, if the processors could do
// more. The limit grows within seconds to what they need.
func TestSlowRequests(t *testing.T) {
	slowly := func(share float64, class LoadClass, table time.Duration) func(*rand.Rand) simulatedRequest {
		return func(r *rand.Rand) simulatedRequest {
			p := pagesLoad(r)
			if r.Float64() < share {
				p.class, p.table = class, variedTime(r, table)
			}
			return p
		}
	}
	for name, mix := range map[string]func(*rand.Rand) simulatedRequest{
		"deep pages":                         slowly(0.3, 6, 200*time.Millisecond),
		"a throttled product":                slowly(0.3, 1, 300*time.Millisecond),
		"a throttled product that most want": slowly(0.7, 1, 300*time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T, m *machine) {
				m.arrive(simulatedCapacity/2, 3*time.Second)
				m.mix = mix
				m.arrive(simulatedCapacity*3/4, 5*time.Second)
				if got := m.arrive(simulatedCapacity*3/4, 10*time.Second); got.refused > 30 { // of 3,000
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// When a table that took seconds for each call recovers, so does the server, also under overload.
// Meanwhile, no request waits in vain.
func TestSlowTable(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		m.arrive(simulatedCapacity*3/4, 3*time.Second)
		m.mix = tableReads(3 * time.Second)
		m.arrive(simulatedCapacity*3/4, 5*time.Second)
		if got := m.arrive(simulatedCapacity*3/4, 20*time.Second); got.goodput < 1 || got.waited > got.refused/100 {
			t.Errorf("while the table is slow: %+v", got)
		}
		m.mix = pagesLoad
		m.arrive(3*simulatedCapacity, 4*time.Second)
		if got := m.arrive(3*simulatedCapacity, 4*time.Second); got.goodput < 0.9*simulatedCapacity || got.p99 > 80*time.Millisecond {
			t.Errorf("4 s after the table is well, under overload: %+v", got)
		}
		m.arrive(simulatedCapacity*3/4, time.Second)
		if got := m.arrive(simulatedCapacity*3/4, 5*time.Second); got.refused > 0 || got.p99 > 80*time.Millisecond {
			t.Errorf("after the overload: %+v", got)
		}
	})
}

// tableReads are pages whose table calls take the given time.
func tableReads(table time.Duration) func(*rand.Rand) simulatedRequest {
	return func(r *rand.Rand) simulatedRequest {
		p := pagesLoad(r)
		p.table = variedTime(r, table)
		return p
	}
}

// A table that becomes slower is no overload: the limit grows to what it needs.
func TestTableSlowerForGood(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		m.arrive(simulatedCapacity*3/2, 5*time.Second)
		m.mix = tableReads(40 * time.Millisecond)
		m.arrive(simulatedCapacity*3/2, 8*time.Second)
		if got := m.arrive(simulatedCapacity*3/2, 5*time.Second); got.goodput < 0.9*simulatedCapacity {
			t.Errorf("%+v", got)
		}
	})
}

// What is no overload has nothing refused.
func TestNoOverload(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *machine) simulatedOutcome{
		"bursts on a server with little load": func(_ *testing.T, m *machine) (got simulatedOutcome) {
			m.arrive(simulatedCapacity/4, 3*time.Second)
			for range 5 {
				time.Sleep(time.Second)
				got.refused += m.arrive(1e6, 25*time.Microsecond).refused
			}
			return got
		},
		"some clients that wait for their answers before they ask again": func(t *testing.T, m *machine) simulatedOutcome {
			m.crowd(16, 10*time.Second, 0)
			got := m.outcome(10 * time.Second)
			if got.goodput < 0.9*simulatedCapacity {
				t.Errorf("%+v", got)
			}
			return got
		},
		"pages after requests that were cheap": func(_ *testing.T, m *machine) simulatedOutcome {
			m.mix = func(r *rand.Rand) simulatedRequest {
				return simulatedRequest{class: 2, cpu: variedTime(r, time.Millisecond), table: variedTime(r, time.Millisecond)}
			}
			m.arrive(simulatedCapacity, 3*time.Second)
			m.mix = tableReads(80 * time.Millisecond)
			return m.arrive(simulatedCapacity*3/4, 5*time.Second)
		},
		// Each probe may refuse some requests itself: readers of a distant table are many at a time.
		"many requests at a time, some seconds after an overload": func(_ *testing.T, m *machine) simulatedOutcome {
			m.mix = tableReads(100 * time.Millisecond)
			m.arrive(simulatedCapacity/2, 3*time.Second)
			m.arrive(3*simulatedCapacity, 5*time.Second)
			m.arrive(simulatedCapacity*3/4, 5*time.Second)
			return m.arrive(simulatedCapacity*3/4, 10*time.Second)
		},
	} {
		simulate(t, func(t *testing.T, m *machine) {
			if got := run(t, m); got.refused > 0 {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}

// Places pass to waiting requests in the order of arrival, and one that gives up leaves nothing
// behind.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(0, 2, 2)
		var places []*Place
		wait := func(ctx context.Context, order chan<- int, number int) {
			place, err := enterLimiter(ctx, limiter)
			if err == nil {
				order <- number
				place.Leave(UnmeasuredLoad)
			} else if ctx.Err() == nil {
				t.Errorf("number %d: %v", number, err)
			}
		}
		time.Sleep(time.Second) // the first probe is over
		for range 2 {
			place := must.Get(enterLimiter(t.Context(), limiter))(t)
			places = append(places, place)
		}
		order := make(chan int, 3)
		leaving, cancel := context.WithCancel(t.Context())
		go wait(leaving, order, 1)
		synctest.Wait()
		go wait(t.Context(), order, 2)
		synctest.Wait()
		if _, err := enterLimiter(t.Context(), limiter); !errors.Is(err, ErrFull) {
			t.Errorf("the third to wait: %v, want to be refused", err)
		}
		cancel()
		synctest.Wait()
		go wait(t.Context(), order, 3)
		synctest.Wait()
		for _, place := range places {
			place.Leave(UnmeasuredLoad)
			synctest.Wait()
		}
		if first, second := <-order, <-order; first != 2 || second != 3 {
			t.Errorf("%d before %d, want 2 before 3", first, second)
		}
		synctest.Wait()
		want := LimiterCounters{Admitted: 4, Full: 1, Gone: 1}
		if got := limiter.State(); got.InFlight != 0 || got.Queued != 0 || got.LimiterCounters != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// Under overload, the limit is the least that it may be: with two equal numbers it stays.
func TestFixed(t *testing.T) {
	simulate(t, func(t *testing.T, m *machine) {
		for least, most := range map[int]int{20: 20, 30: 256} {
			m.limiter = newLimiter(least, most, 2)
			m.arrive(3*simulatedCapacity, 10*time.Second)
			if got := m.limiter.State().Limit; got != least {
				t.Errorf("the limit is %d, want the least, %d", got, least)
			}
		}
	})
}

// A request whose turn does not come is refused.
func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(0, 2, 2)
		time.Sleep(time.Second) // the first probe is over
		for range 2 {
			must.Get(enterLimiter(t.Context(), limiter))(t)
		}
		began := time.Now()
		if _, err := enterLimiter(t.Context(), limiter); !errors.Is(err, ErrWaited) || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if got := limiter.State(); got.Queued != 0 || got.Waited != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// Requests that wait while a probe admits few have their turn after it, even if none comes or goes.
func TestProbeEndsForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(36, 256, 2) // it begins with a probe
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				place, err := enterLimiter(t.Context(), limiter)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				place.Leave(UnmeasuredLoad)
			})
		}
		group.Wait()
	})
}

// A limiter is full from the first refusal until a request comes while none waits. Meanwhile, a
// request that finds no room is refused before it enters.
func TestRefusing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(1, 1, 1)
		is := func(refusing bool, when string) {
			t.Helper()
			limiter.mu.Lock()
			defer limiter.mu.Unlock()
			if limiter.refusing != refusing {
				t.Errorf("%s: refusing %t", when, !refusing)
			}
		}
		refused := func(want bool, count uint64, when string) {
			t.Helper()
			if got, full := limiter.Refuse(), limiter.State().Full; got != want || full != count {
				t.Errorf("%s: refused %t, %d in all; want %t, %d", when, got, full, want, count)
			}
		}
		first := must.Get(enterLimiter(t.Context(), limiter))(t)
		second := must.Get(limiter.Enter())(t)
		is(false, "one waits")
		refused(false, 0, "nobody was refused")
		if _, err := limiter.Enter(); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		is(true, "another was refused")
		refused(true, 2, "one waits")
		first.Leave(UnmeasuredLoad)
		place := must.Get(second.Wait(t.Context()))(t)
		is(true, "its turn came")
		refused(false, 2, "nobody waits")
		place.Leave(UnmeasuredLoad)
		must.Get(enterLimiter(t.Context(), limiter))(t)
		is(false, "one came while nobody waited")
	})
}
