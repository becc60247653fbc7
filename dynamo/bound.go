package dynamo

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
// Larger comments cost more than is known before they are read. So no call begins once largeUnits more than that was spent;
// calls under way, of which there are at most maxCallsAtOnce for the page and as many for the probes or the count, end.
const (
	// BoundFactor is how many times its estimate a page or a count may cost, if no comment has more than 1 KB.
	BoundFactor = 8
	// largeUnits are what one call reads at most, 1 MB.
	largeUnits = 128
)

// errBound ends an attempt that would cost more than it may.
var errBound = errors.New("dynamo: the attempt would cost more than it may")

// meter adds up what the calls for one page consume, or those for one count. It is safe for use by many goroutines.
type meter struct {
	estimate, limit float64
	cure            string // what to ask for instead, for the message

	mu    sync.Mutex
	spent float64
}

func newMeter(estimate float64, cure string) *meter {
	return &meter{estimate: estimate, limit: BoundFactor*estimate + largeUnits, cure: cure}
}

// Cures for those whose question met its bound.
const (
	pageCure  = "these comments are large: ask for a smaller page, or for fewer languages and ratings"
	countCure = "choose a shorter range of dates, or leave out totalCount and stats"
)

// check returns a TooCostly error once so much was spent that no further call may begin.
func (m *meter) check() error {
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

// most is what may be spent on comments of at most 1 KB, 0 for no bound.
func (m *meter) most() float64 {
	if m == nil {
		return 0
	}
	return BoundFactor * m.estimate
}

func (m *meter) refusal() error {
	return comment.Errorf(comment.TooCostly, "reading this takes more than %.0f read units, and was stopped: %s", m.limit, m.cure)
}

func (m *meter) add(units float64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += units
}

// assumedUnits is what a call costs that looks at so many comments, if none has more than 1 KB.
func assumedUnits(items int) float64 { return eventualUnits(items * assumedItemBytes) }

// narrowUnits is what the narrowest way to read so many comments costs, if none has more than 1 KB.
func narrowUnits(filter comment.Filter, want int) float64 {
	parts := len(covers(filter)[0].Cover)
	if parts <= maxReads {
		return float64(parts) * assumedUnits(min(want, maxLimit))
	}
	// Each call but the first of a part looks at no more than twice what that part yielded before.
	return float64(parts)*assumedUnits(fewItems) + 3*assumedUnits(want)
}

// fewItems is how many comments the first call looks at in each of more than maxReads partitions: half a unit's worth.
const fewItems = unitBytes / assumedItemBytes

// narrow plans to take so many comments from partitions that hold nothing else, after an attempt was given up.
func (p planner) narrow(w window, purpose comment.ReadPurpose, want int) Plan {
	plan := p.plan(w, purpose)
	plan.Want, plan.Narrowed = want, true
	plan.Candidates = covers(p.filter)[:1]
	p.read(&plan, plan.Candidates[0].Cover)
	limit := min(want, maxLimit)
	if len(plan.Candidates[0].Cover) > maxReads {
		limit = min(want, fewItems)
	}
	for i := range plan.Reads {
		plan.Reads[i].Limit = limit
	}
	return plan
}

// residual tells whether any read may look at what is not wanted.
func (p Plan) residual() bool {
	for _, read := range p.Reads {
		if read.residual() {
			return true
		}
	}
	return false
}

// limitedTo is the plan with limits no higher than so many units allow for all of its first calls.
func (p Plan) limitedTo(units float64) Plan {
	total := 0.0
	for _, read := range p.Reads {
		total += assumedUnits(read.Limit)
	}
	if total <= units {
		return p
	}
	most := itemsWithin(units, len(p.Reads))
	for i := range p.Reads {
		p.Reads[i].Limit = max(1, min(p.Reads[i].Limit, most))
	}
	return p
}

// itemsWithin is how many comments each of so many calls may look at for so many units, if none has more than 1 KB.
func itemsWithin(units float64, calls int) int {
	return int(max(0, units)/float64(calls)*2) * fewItems
}
