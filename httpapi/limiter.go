package httpapi

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
)

// longestWait is how long a request may wait for its turn. A request that would wait longer at the
// present pace is refused at once.
const longestWait = 100 * time.Millisecond

// Why a request is refused.
var (
	// ErrFull means that too many requests are in progress, and enough are waiting.
	ErrFull = errors.New("too many requests are in progress")
	// ErrWaited means that the request waited for its turn for too long.
	ErrWaited = errors.New("too many requests are in progress, and this one has waited for its turn")
)

// Limiter bounds how many requests are processed at a time. The bound follows the capacity of the
// server and its table: it compares how long requests take with how long they take when few are in
// progress. See docs/design/overload.md. A Limiter is safe for concurrent use.
type Limiter struct {
	mu       sync.Mutex
	gradient *gradient
	inFlight int
	probing  int           // requests in flight that a probe admitted
	pace     time.Duration // how long requests take at present
	queue    []*Turn       // the first is the next
	emptied  time.Time     // when the queue was last empty
	refusing bool          // see Refuse
	counters LimiterCounters
}

// NewLimiter returns a limiter whose limit moves between least and most. A least of zero means six
// for each processor. If least equals most, the limit is fixed.
func NewLimiter(least, most int) *Limiter { return newLimiter(least, most, runtime.GOMAXPROCS(0)) }

func newLimiter(least, most, processors int) *Limiter {
	least = min(cmp.Or(least, perProcessor*processors), most)
	first, now := max(least, min(3*perProcessor*processors, most)), time.Now()
	return &Limiter{gradient: &gradient{
		least: least, most: most, alone: min(processors, most), limit: float64(first),
		since: now, probing: least < most, probed: now,
	}}
}

// Enter returns the turn of a request, which may have come already. The error is ErrFull if there
// is no room to wait for it.
func (l *Limiter) Enter() (*Turn, error) { return l.enter(time.Now()) }

func (l *Limiter) enter(now time.Time) (*Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses(now) {
		return nil, ErrFull
	}
	turn := &Turn{l, make(chan *Place, 1)}
	l.queue = append(l.queue, turn)
	l.admit(now)
	return turn, nil
}

// refuses reports whether a request that comes now is refused at once, and counts it if it is. The
// caller holds the lock.
func (l *Limiter) refuses(now time.Time) bool {
	if !l.full(now) {
		return false
	}
	l.counters.Full++
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
	// One more request may wait if its turn comes soon. In a burst as many may wait as may be in
	// progress. Once the queue no longer empties, only half as many may: more would only make all wait
	// longer.
	waiting, limit := len(l.queue), int(l.gradient.limit)
	room := limit
	if l.gradient.probing || now.Sub(l.emptied) > longestWait {
		room = limit / 2
	}
	return waiting >= room || l.pace*time.Duration(waiting+1)/time.Duration(limit) > longestWait
}

// Refuse reports whether to refuse a new request early, and counts it like Enter if so. It refuses
// only while the queue has not been empty since the last refusal. If it returns false, Enter
// decides when the request needs its place.
func (l *Limiter) Refuse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusing && l.refuses(time.Now())
}

// Full reports whether Refuse would refuse a request now, without counting one.
func (l *Limiter) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusing && l.full(time.Now())
}

// Turn is a request's turn to be in progress.
type Turn struct {
	limiter *Limiter
	place   chan *Place // has it once the turn has come
}

// Wait waits for the turn, and returns the request's place. It must be called once. The caller
// gives the place back by Leave. The error is ErrWaited, or that of a context that ended first.
func (t *Turn) Wait(ctx context.Context) (*Place, error) {
	select {
	case place := <-t.place:
		return place, nil
	default:
	}
	timer := time.NewTimer(longestWait)
	defer timer.Stop()
	select {
	case place := <-t.place:
		return place, nil
	case <-timer.C:
		return t.limiter.giveUp(t, ErrWaited)
	case <-ctx.Done():
		return t.limiter.giveUp(t, ctx.Err())
	}
}

// free reports whether another request may be in progress.
func (l *Limiter) free() bool {
	if l.gradient.probing {
		return l.probing < l.gradient.alone && l.inFlight < l.gradient.most
	}
	return l.inFlight < int(l.gradient.limit)
}

// admit gives free places to waiting requests.
func (l *Limiter) admit(now time.Time) {
	for len(l.queue) > 0 && l.free() {
		next := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		l.inFlight++
		l.counters.Admitted++
		place := &Place{limiter: l, began: now, visit: l.gradient.visit(l.inFlight)}
		if place.visit.probe {
			l.probing++
		}
		next.place <- place
	}
}

// giveUp takes a request out of the queue. If its turn came at the same moment, it keeps the place,
// or gives it back if its context has ended.
func (l *Limiter) giveUp(t *Turn, reason error) (*Place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); reason == ErrWaited { // a probe may be over that no request has ended since
		l.gradient.tick(now)
		l.admit(now)
	}
	at := slices.Index(l.queue, t)
	late := at < 0
	switch {
	case late && reason == ErrWaited:
		return <-t.place, nil
	case late:
		place := <-t.place
		l.leave(time.Now(), place, UnmeasuredLoad)
	default:
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	if reason == ErrWaited {
		l.counters.Waited++
		l.gradient.refuse()
	} else {
		l.counters.Gone++
	}
	return nil, reason
}

func (l *Limiter) leave(now time.Time, place *Place, class LoadClass) {
	l.inFlight--
	if place.visit.probe {
		l.probing--
	}
	took := now.Sub(place.began)
	l.pace += (took - l.pace) / paceMemory
	l.gradient.finished(now, place.visit, class, took)
	l.admit(now)
}

// paceMemory is about how many requests the pace averages.
const paceMemory = 16

// Place is a request in progress.
type Place struct {
	limiter *Limiter
	began   time.Time
	visit   visit
}

// Leave gives the place back. Call it once. The duration is compared with others of the class.
func (p *Place) Leave(class LoadClass) {
	now := time.Now()
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.limiter.leave(now, p, class)
}

// LimiterCounters count requests since the limiter was made.
type LimiterCounters struct {
	// Admitted were let in. Full were refused at once, Waited after they had waited. Gone are those
	// whose client gave up, or whose time was over, while they waited.
	Admitted, Full, Waited, Gone uint64
}

// LimiterState is the state of a limiter at a moment.
type LimiterState struct {
	// Limit is how many requests may be in progress, InFlight how many are, and Queued how many
	// wait for their turn.
	Limit, InFlight, Queued int
	// LimiterCounters are those until now.
	LimiterCounters
}

// State returns the current state.
func (l *Limiter) State() LimiterState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return LimiterState{int(l.gradient.limit), l.inFlight, len(l.queue), l.counters}
}
