package quota

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// maxClients is how many clients a ledger knows at a time. They take some 10 MB.
const maxClients = 1 << 16

// Ledger keeps the accounts of a policy in the memory of a process. It forgets clients that have
// their whole burst again. If too many clients remain, it forgets those that are closest to their
// whole burst. It forgets no client in debt: new clients then share one account. Safe for
// concurrent use.
type Ledger struct {
	policy Policy
	max    int
	clock  func() time.Duration // monotonic

	mu       sync.Mutex
	read     time.Duration // the last reading of the clock
	skipped  time.Duration // by how much the clock was set back so far
	accounts map[Client]*account
	soonest  accounts
	others   time.Duration // when the account that new clients share is full
}

// NewLedger returns a ledger without any client.
func NewLedger(p Policy) *Ledger {
	start := time.Now()
	return newLedger(p, maxClients, func() time.Duration { return time.Since(start) })
}

func newLedger(p Policy, limit int, clock func() time.Duration) *Ledger {
	return &Ledger{policy: p, max: limit, clock: clock, accounts: map[Client]*account{}}
}

// Policy returns what each client may use.
func (l *Ledger) Policy() Policy { return l.policy }

// Clients returns how many clients the ledger knows.
func (l *Ledger) Clients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accounts)
}

// Peek returns what a client may use now, and how long it waits for the given units.
func (l *Ledger) Peek(c Client, units float64) Balance {
	l.mu.Lock()
	defer l.mu.Unlock()
	owed := l.owed(c, l.now())
	b := l.policy.balance(owed)
	b.Wait = l.policy.wait(owed, units)
	return b
}

// Take takes units from a client, or none if fewer are left.
func (l *Ledger) Take(_ context.Context, c Client, units float64) Charge {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	owed := l.owed(c, now)
	after, b := l.policy.take(owed, units)
	if b.Wait > 0 {
		return Charge{Balance: b}
	}
	l.owe(c, now, after)
	return Charge{Balance: b, Taken: units}
}

// Settle corrects a charge to the units used, and returns the balance.
func (l *Ledger) Settle(_ context.Context, c Client, charge Charge, used float64) Balance {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	after := l.policy.settle(l.owed(c, now), used-charge.Taken)
	l.owe(c, now, after)
	return l.policy.balance(after)
}

// note sets what a client owes.
func (l *Ledger) note(c Client, owed time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owe(c, l.now(), owed)
}

// Charge is the charge to a client before an operation.
type Charge struct {
	// Balance is the balance after the charge. With a Wait, nothing was taken.
	Balance
	// Taken is how many units were taken.
	Taken float64

	apart bool // taken from the account of this server alone, because the store was away
}

// now returns the time by a clock that is never set back. A virtual machine's clock may be, when
// the machine migrates.
func (l *Ledger) now() time.Duration {
	t := l.clock()
	l.skipped += max(0, l.read-t)
	l.read = t
	return t + l.skipped
}

// account is the account of a client. The ledger drops it some time after the client has its whole
// burst again.
type account struct {
	client Client
	full   time.Duration // when it has its whole burst again
	place  int           // in the heap
}

// owed returns the time until a client has its whole burst again.
func (l *Ledger) owed(c Client, now time.Duration) time.Duration {
	full := now
	if a := l.accounts[c]; a != nil {
		full = a.full
	} else if l.crowded(now) {
		full = l.others
	}
	return max(0, full-now)
}

// crowded reports whether the ledger is full and all clients are in debt, so that none can be
// forgotten.
func (l *Ledger) crowded(now time.Duration) bool {
	return len(l.accounts) >= l.max && l.soonest[0].full-now > l.policy.Window()
}

// swept bounds the clients that are forgotten when one is added. It is above 1, so that few clients
// with their whole burst are kept.
const swept = 2

// owe notes the time until a client has its whole burst again.
func (l *Ledger) owe(c Client, now, owed time.Duration) {
	full, a := now+owed, l.accounts[c]
	switch {
	case a != nil && owed > 0:
		a.full = full
		heap.Fix(&l.soonest, a.place)
		return
	case a != nil:
		l.forget(a)
		return
	case owed <= 0:
		return
	}
	// The client is new.
	for i := 0; i < swept && len(l.soonest) > 0 && l.soonest[0].full <= now; i++ {
		l.forget(l.soonest[0])
	}
	if l.crowded(now) {
		l.others = full
		return
	}
	if len(l.accounts) >= l.max {
		l.forget(l.soonest[0])
	}
	a = &account{client: c, full: full}
	l.accounts[c] = a
	heap.Push(&l.soonest, a)
}

func (l *Ledger) forget(a *account) {
	heap.Remove(&l.soonest, a.place)
	delete(l.accounts, a.client)
}

// accounts is a heap of accounts by the time at which they are full, earliest first. It implements
// [heap.Interface].
type accounts []*account

// Len implements [heap.Interface].
func (s accounts) Len() int { return len(s) }

// Less implements [heap.Interface].
func (s accounts) Less(i, j int) bool { return s[i].full < s[j].full }

// Swap implements [heap.Interface].
func (s accounts) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements [heap.Interface].
func (s *accounts) Push(x any) {
	a := x.(*account)
	a.place = len(*s)
	*s = append(*s, a)
}

// Pop implements [heap.Interface].
func (s *accounts) Pop() any {
	last := len(*s) - 1
	a := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return a
}
