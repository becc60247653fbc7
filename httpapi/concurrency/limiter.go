// Package concurrency bounds how many requests are processed at a time. The bound is no fixed
// number: it follows what the server and its table carry, by how long requests take beside how long
// they take when few are in progress. See docs/design/overload.md.
package concurrency

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
)

// longestWait is how long a request may wait for its turn. One that would have to wait longer, by
// what requests take now, is refused at once.
const longestWait = 100 * time.Millisecond

// Why a request is refused.
var (
	// ErrFull means that too many requests are in progress, and enough are waiting.
	ErrFull = errors.New("too many requests are in progress")
	// ErrWaited means that the request waited for its turn for too long.
	ErrWaited = errors.New("too many requests are in progress, and this one has waited for its turn")
)

// Limiter lets requests in. It is safe for concurrent use.
type Limiter struct {
	mu       sync.Mutex
	gradient *gradient
	inFlight int
	probing  int           // requests in flight that a probe let in
	pace     time.Duration // how long requests take at present
	queue    []*waiter     // the first is the next
	emptied  time.Time     // when nobody waited
	refusing bool          // see Refuse
	counted  Counters
}

// New returns a limiter that lets in requests up to a limit, which moves between least and most. A
// least of zero stands for six for each processor. With two equal numbers the limit is fixed.
func New(least, most int) *Limiter { return newLimiter(least, most, runtime.GOMAXPROCS(0)) }

func newLimiter(least, most, processors int) *Limiter {
	return &Limiter{gradient: newGradient(least, most, processors, time.Now())}
}

// Enter returns the turn of a request, which may have come already. The error is ErrFull if there is
// no room to wait for it.
func (l *Limiter) Enter() (Turn, error) { return l.enter(time.Now()) }

func (l *Limiter) enter(now time.Time) (Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses(now) {
		return Turn{}, ErrFull
	}
	if len(l.queue) == 0 && l.free() {
		return Turn{limiter: l, place: l.let(now)}, nil
	}
	w := &waiter{turn: make(chan *Place, 1)}
	l.queue = append(l.queue, w)
	return Turn{limiter: l, waiter: w}, nil
}

// refuses reports whether a request that comes now is refused at once, and counts it if it is. The
// caller holds the lock.
func (l *Limiter) refuses(now time.Time) bool {
	if !l.full(now) {
		return false
	}
	l.counted.Full++
	l.gradient.refuse()
	l.refusing = true
	return true
}

// full reports whether a request that comes now is refused at once. The caller holds the lock.
func (l *Limiter) full(now time.Time) bool {
	l.gradient.tick(now)
	l.admit(now)
	if len(l.queue) == 0 {
		l.emptied = now
		l.refusing = false
		if l.free() {
			return false
		}
	}
	// One more may wait if its turn comes soon. In a burst as many may wait as may be in progress. When
	// the queue does not get empty any more, half as many: all would only wait longer.
	waiting, limit := len(l.queue), int(l.gradient.limit)
	room := limit
	if l.gradient.probing || now.Sub(l.emptied) > longestWait {
		room = limit / 2
	}
	return waiting >= room || l.pace*time.Duration(waiting+1)/time.Duration(limit) > longestWait
}

// Refuse reports whether a request that comes while others are refused is refused too: since one was
// refused at once, each that came found others waiting. If so, it is counted like those that Enter
// refuses. If not, the caller has Enter decide when the request needs its place.
func (l *Limiter) Refuse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusing && l.refuses(time.Now())
}

// Full reports whether Refuse would refuse a request now, and counts none.
func (l *Limiter) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusing && l.full(time.Now())
}

// Turn is that of a request to be in progress.
type Turn struct {
	limiter *Limiter
	place   *Place // nil if the turn has not come at once
	waiter  *waiter
}

// Wait waits for the turn, and returns the request's place. It must be called once. The caller gives
// the place back by Leave. The error is ErrWaited, or that of a context that ended first.
func (t Turn) Wait(ctx context.Context) (*Place, error) {
	if t.place != nil {
		return t.place, nil
	}
	timer := time.NewTimer(longestWait)
	defer timer.Stop()
	select {
	case place := <-t.waiter.turn:
		return place, nil
	case <-timer.C:
		return t.limiter.giveUp(t.waiter, ErrWaited)
	case <-ctx.Done():
		return t.limiter.giveUp(t.waiter, ctx.Err())
	}
}

// free reports whether another request may be in progress.
func (l *Limiter) free() bool {
	if l.gradient.probing {
		return l.probing < l.gradient.alone && l.inFlight < l.gradient.most
	}
	return l.inFlight < int(l.gradient.limit)
}

// let takes a place. The caller holds the lock.
func (l *Limiter) let(now time.Time) *Place {
	l.inFlight++
	l.counted.Admitted++
	place := &Place{limiter: l, began: now, visit: l.gradient.visit(l.inFlight)}
	if place.visit.probe {
		l.probing++
	}
	return place
}

// admit gives free places to those who wait.
func (l *Limiter) admit(now time.Time) {
	for len(l.queue) > 0 && l.free() {
		next := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		next.turn <- l.let(now)
	}
}

// giveUp ends the waiting of a request without a place. If its turn came at the same moment, the
// place is its own, or is given back if nobody waits for the answer.
func (l *Limiter) giveUp(w *waiter, reason error) (*Place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); reason == ErrWaited { // a probe may be over that nobody came or went to end
		l.gradient.tick(now)
		l.admit(now)
	}
	at := slices.Index(l.queue, w)
	late := at < 0
	switch {
	case late && reason == ErrWaited:
		return <-w.turn, nil
	case late:
		place := <-w.turn
		l.leave(time.Now(), place, Unmeasured)
	default:
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	if reason == ErrWaited {
		l.counted.Waited++
		l.gradient.refuse()
	} else {
		l.counted.Gone++
	}
	return nil, reason
}

func (l *Limiter) leave(now time.Time, place *Place, class Class) {
	l.inFlight--
	if place.visit.probe {
		l.probing--
	}
	took := now.Sub(place.began)
	l.pace += (took - l.pace) / paceMemory
	l.gradient.finished(now, place.visit, class, took)
	l.admit(now)
}

// paceMemory is of about how many requests the pace is the average.
const paceMemory = 16

// waiter is a request that waits for its turn.
type waiter struct{ turn chan *Place }

// Place is a request in progress.
type Place struct {
	limiter *Limiter
	began   time.Time
	visit   visit
}

// Leave gives the place back, once. The class says with which other requests this one is compared.
func (p *Place) Leave(class Class) {
	now := time.Now()
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.limiter.leave(now, p, class)
}

// Counters count requests since the limiter was made.
type Counters struct {
	// Admitted were let in. Full were refused at once, Waited after they had waited. Gone are those
	// whose client gave up, or whose time was over, while they waited.
	Admitted, Full, Waited, Gone uint64
}

// State is what a limiter does at a moment.
type State struct {
	// Limit is how many requests may be in progress, InFlight how many are, and Queued how many
	// wait for their turn.
	Limit, InFlight, Queued int
	// Counters are those until now.
	Counters
}

// State returns what the limiter does now.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return State{int(l.gradient.limit), l.inFlight, len(l.queue), l.counted}
}
