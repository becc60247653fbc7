package capacity

import (
	"errors"
	"sync"

	"github.com/talkback/talkback/comment"
)

// What a page or a count may cost at most. A plan believes counts and sizes; whatever they are, a page of comments of at
// most 1 KB costs at most BoundFactor times its estimate:
//
//   - An attempt is a plan with a residual filter. It may cost twice the estimate, and is given up before it would cost
//     more, since what it drops may be anything.
//   - Then the page is read from partitions that hold nothing else. Each of them is read for as many comments as are
//     wanted, which is the estimate, or, of more than maxReads, a few at a time, of which none is read in vain. A cursor
//     makes this one comment more than is estimated: twice the estimate.
//   - Up to two probes may attempt at their own estimate, and are then read likewise: 4 times the estimate together.
//
// Comments that were just edited and are fetched by their ids come on top, up to maxLookups of them.
//
// Larger comments cost more than is known before they are read. So no call begins once LargestCall more than that was spent;
// calls under way, of which there are at most maxCallsAtOnce for the page and as many for the probes or the count, end.
const (
	// BoundFactor is how many times its estimate a page or a count may cost, if no comment has more than 1 KB.
	BoundFactor = 8
	// LargestCall are what one call reads at most, 1 MB.
	LargestCall = 128
)

// ErrBound ends an attempt that would cost more than it may.
var ErrBound = errors.New("capacity: the attempt would cost more than it may")

// Meter adds up what the calls for one page consume, or those for one count. It is safe for use by many goroutines.
type Meter struct {
	// Estimate is what the page or the count was estimated to cost, in read units.
	Estimate float64

	limit float64
	cure  string // what to ask for instead, for the message

	mu    sync.Mutex
	spent float64
}

// NewMeter makes a meter for an estimate in read units, at least 0. cure says what to ask for instead, once the bound is met.
func NewMeter(estimate float64, cure string) *Meter {
	return &Meter{Estimate: estimate, limit: BoundFactor*estimate + LargestCall, cure: cure}
}

// Check returns a TooCostly error once so much was spent that no further call may begin.
func (m *Meter) Check() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent < m.limit {
		return nil
	}
	return m.refusal()
}

// Most is what may be spent on comments of at most 1 KB, 0 for no bound.
func (m *Meter) Most() float64 {
	if m == nil {
		return 0
	}
	return BoundFactor * m.Estimate
}

func (m *Meter) refusal() error {
	return comment.Errorf(comment.TooCostly, "reading this takes more than %.0f read units, and was stopped: %s", m.limit, m.cure)
}

// Add notes that a call consumed so many units.
func (m *Meter) Add(units float64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += units
}

// CountLimit is how many items each of so many calls may look at, so that they stay within the bound if no comment has more
// than 1 KB; 0 for no limit.
func (m *Meter) CountLimit(calls int) (int, error) {
	if m == nil {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := ItemsWithin(m.Most()-m.spent, calls)
	if limit < leastCounted {
		return 0, m.refusal()
	}
	return limit, nil
}

// leastCounted is how many items a call that counts has to be allowed. With less, the last few of many would take ever more
// and ever smaller calls.
const leastCounted = 32
