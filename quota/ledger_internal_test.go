package quota

import (
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bucket is a token bucket as textbooks have it: the model of an account.
type bucket struct {
	units float64
	at    time.Duration
}

func (b *bucket) fill(p Policy, now time.Duration) {
	b.units = min(p.Burst, b.units+p.Rate*(now-b.at).Seconds())
	b.at = now
}

// settle gives units back, or takes more, down to the longest debt.
func (b *bucket) settle(p Policy, units float64) {
	least := min(b.units, p.Burst-p.Rate*p.Longest().Seconds())
	b.units = min(p.Burst, max(least, b.units+units))
}

// near allows for times in whole nanoseconds.
func near(p Policy, got, want float64) bool {
	return math.Abs(got-want) <= 1e-6*(1+p.Rate+math.Abs(want))
}

// Of fewer units than servers, a client may use one at each, and is told so. It still waits until
// all of them would have granted it one.
func TestShareOfFewUnits(t *testing.T) {
	p := Policy{Rate: 2.0 / 60, Burst: 2}.Share(4)
	owed, granted := p.take(0, 1)
	if _, again := p.take(owed, 1); p.Burst != 1 || granted.Wait != 0 || again.Wait != 2*time.Minute {
		t.Errorf("a burst of %v at each server; the first unit after %v, the second after %v", p.Burst, granted.Wait, again.Wait)
	}
}

// A ledger grants what a token bucket for each client does, as long as it knows the client. It
// never forgets one that is in debt, however little room it has.
func TestLedgerAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{Rate: rapid.SampledFrom([]float64{0.1, 1, 7, 1000}).Draw(t, "rate"), Burst: rapid.SampledFrom([]float64{1, 10, 333}).Draw(t, "burst")}
		room := rapid.SampledFrom([]int{3, 100}).Draw(t, "room")
		var now, behind time.Duration
		l := newLedger(p, room, func() time.Duration { return now - behind })
		model, taken, kept := map[Client]*bucket{}, map[Client]float64{}, map[Client]bool{}
		client := func(t *rapid.T) (c Client, b *bucket, known bool) {
			c = Customer(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "client")))
			if model[c] == nil {
				model[c] = &bucket{units: p.Burst}
			}
			b, known = model[c], l.accounts[c] != nil
			b.fill(p, now)
			if b.units < -1e-6*p.Rate && kept[c] && !known {
				t.Fatalf("a client with %v units was forgotten", b.units)
			}
			if !known {
				*b = bucket{units: p.Burst, at: now}
			}
			return c, b, known || room == 100
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				c, b, known := client(t)
				units := p.Burst * rapid.SampledFrom([]float64{0, 0.1, 0.5, 1, 3}).Draw(t, "units")
				need := min(units, p.Burst)
				got := l.Take(t.Context(), c, units)
				kept[c] = l.accounts[c] != nil
				if known && (got.Wait == 0) != (b.units >= need) && !near(p, b.units, need) {
					t.Fatalf("%v units of %v: %+v", units, b.units, got)
				}
				if got.Wait == 0 {
					b.units -= units
					taken[c] += units
				}
				if wait := time.Duration((need - b.units) / p.Rate * 1e9); known && got.Wait > 0 && (got.Wait-wait).Abs() > 10*time.Microsecond {
					t.Fatalf("it is to wait %v for %v units of %v, want %v", got.Wait, units, b.units, wait)
				}
				if known && !near(p, got.Units, b.units) {
					t.Fatalf("%v units are left, want %v", got.Units, b.units)
				}
			},
			"settle": func(t *rapid.T) {
				c, b, known := client(t)
				used := taken[c] * rapid.SampledFrom([]float64{0, 0.5, 1, 9}).Draw(t, "used")
				got := l.Settle(t.Context(), c, Charge{Taken: taken[c]}, used)
				kept[c] = l.accounts[c] != nil
				b.settle(p, taken[c]-used)
				taken[c] = 0
				if known && !near(p, got.Units, b.units) {
					t.Fatalf("%v units are left, want %v", got.Units, b.units)
				}
			},
			"wait": func(t *rapid.T) {
				now += time.Duration(rapid.Float64Range(0, 2).Draw(t, "windows") * float64(p.Window()))
			},
			"set the clock back": func(t *rapid.T) {
				l.Peek(Client{}, 1) // it has seen the time
				behind += time.Duration(rapid.IntRange(1, 3600).Draw(t, "seconds")) * time.Second
				l.Peek(Client{}, 1) // and sees the new one before time goes on
			},
			"": func(t *rapid.T) {
				if len(l.accounts) > room || len(l.soonest) != len(l.accounts) {
					t.Fatalf("%d and %d clients, with room for %d", len(l.accounts), len(l.soonest), room)
				}
			},
		})
	})
}

// Clients in debt stay known, however many others come; those that come while there is no room
// share an account.
func TestDebtIsNotForgotten(t *testing.T) {
	var now time.Duration
	p := Policy{Rate: 1, Burst: 10}
	l := newLedger(p, 3, func() time.Duration { return now })
	for i := range 3 {
		c := Customer(fmt.Sprint(i))
		l.Settle(t.Context(), c, l.Take(t.Context(), c, 10), 11)
	}
	granted := 0
	for i := range 1000 {
		if l.Take(t.Context(), Customer(fmt.Sprint("new", i)), 1).Wait == 0 {
			granted++
		}
	}
	if granted != 10 {
		t.Errorf("%d units were granted to new clients together, want one burst of 10", granted)
	}
	for i := range 3 {
		if got := l.Peek(Customer(fmt.Sprint(i)), 1); got.Units != -1 {
			t.Errorf("client %d has %v units, want -1", i, got.Units)
		}
	}
	now += 2 * time.Second // debts are paid, but nobody has a whole burst
	if l.Take(t.Context(), Customer("new"), 1).Wait != 0 || l.Clients() != 3 {
		t.Errorf("a new client finds no room, with %d known", l.Clients())
	}
}

// Where there is no room, the client is forgotten that has its whole burst again first. One that
// has it now is forgotten at once, or never known: it takes the room of no other.
func TestWhoIsForgotten(t *testing.T) {
	l := newLedger(Policy{Rate: 1, Burst: 10}, 2, func() time.Duration { return 0 })
	for i, name := range []string{"ada", "bob", "ada", "eve"} {
		l.Take(t.Context(), Customer(name), float64(2+i))
	}
	l.Take(t.Context(), Customer("dan"), 0)
	for name, want := range map[string]float64{"ada": 10 - 2 - 4, "bob": 10, "eve": 10 - 5} {
		if got := l.Peek(Customer(name), 1); got.Units != want {
			t.Errorf("%s has %v units, want %v", name, got.Units, want)
		}
	}
	if l.Settle(t.Context(), Customer("eve"), Charge{Taken: 5}, 0); l.Clients() != 1 {
		t.Errorf("%d clients are known, of which one has its whole burst", l.Clients())
	}
}

// A million addresses take no more memory than maxClients, and those that have their whole burst
// again are forgotten.
func TestManyClients(t *testing.T) {
	var now time.Duration
	l := newLedger(Policy{Rate: 10, Burst: 100}, 1000, func() time.Duration { return now })
	for i := range 20_000 {
		l.Take(t.Context(), Address(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)})), 1)
		now += time.Microsecond
	}
	if l.Clients() != 1000 {
		t.Errorf("%d clients are known, want 1000", l.Clients())
	}
	now += time.Minute
	for i := range 1000 {
		l.Take(t.Context(), Customer(fmt.Sprint(i)), 0.0001)
		now += time.Second
	}
	if l.Clients() > 2 {
		t.Errorf("%d clients are known, of which one has less than a burst", l.Clients())
	}
}

// Together, no more is granted than the burst and what becomes available meanwhile.
func TestManyAtOnce(t *testing.T) {
	l := newLedger(Policy{Rate: 0.001, Burst: 100}, 10, func() time.Duration { return 0 })
	var granted atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				charge := l.Take(t.Context(), Customer("ada"), 2)
				if charge.Wait == 0 {
					granted.Add(1)
					l.Settle(t.Context(), Customer("ada"), charge, 1)
				}
			}
		})
	}
	group.Wait()
	if got := granted.Load(); got != 99 { // the last unit is not enough for another 2
		t.Errorf("%d operations of 1 unit were granted, estimated at 2, of 100", got)
	}
}

func TestClients(t *testing.T) {
	for _, row := range []struct {
		why  string
		a, b string
		same bool
	}{
		{"the same address", "192.0.2.1", "192.0.2.1", true},
		{"neighbours by IPv4 are different customers", "192.0.2.1", "192.0.2.2", false},
		{"IPv4 in IPv6 is IPv4", "192.0.2.1", "::ffff:192.0.2.1", true},
		{"which is not one network", "::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"one network of 64 bits is one customer", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true},
		{"the next network is another", "2001:db8:1:2::1", "2001:db8:1:3::1", false},
		{"a zone names an interface of this machine", "fe80::1%eth0", "fe80::1%eth1", true},
	} {
		if got := Address(netip.MustParseAddr(row.a)) == Address(netip.MustParseAddr(row.b)); got != row.same {
			t.Errorf("%s: %s and %s are the same: %v", row.why, row.a, row.b, got)
		}
	}
	unknown, another := netip.Addr{}, netip.Addr{}
	if Customer("192.0.2.1") == Address(netip.MustParseAddr("192.0.2.1")) || Address(unknown) != Address(another) {
		t.Error("a customer is taken for an address, or unknown addresses differ")
	}
}

// A million addresses, each of which uses some: the time for each, and what all take in the end.
func BenchmarkMillionAddresses(b *testing.B) {
	const million = 1_000_000
	for b.Loop() {
		before := inUse()
		l := NewLedger(Policy{Rate: 1000, Burst: 10_000})
		begun := time.Now()
		for i := range million {
			l.Take(b.Context(), Address(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)})), 9000)
		}
		b.ReportMetric(float64(time.Since(begun).Nanoseconds())/million, "ns/address")
		b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB")
		b.ReportMetric(float64(l.Clients()), "clients")
	}
}

// inUse returns the bytes in use after a collection.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
