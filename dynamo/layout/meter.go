package layout

import (
	"math"
	"sync"

	"github.com/talkback/talkback/comment"
)

// The cost bound of a page. Counts and sizes of a product may be wrong, and so may a plan that
// relies on them. If no comment has more than 1 KB, a page still costs at most BoundFactor (8)
// times its estimate:
//
//   - 2 times: an attempt, which is a plan with a residual filter. Its reads with one end before
//     they would cost more, because the filter may drop everything that they scan.
//   - 2 times: the reads that take their place, from partitions that hold only comments of the
//     list. That is what was estimated, and some more for the comment at a cursor.
//   - 4 times: two probes for a comment before and after the page. Each costs at most one
//     estimate for an attempt and one for the reads after it.
//
// Fetching recently moved comments by id comes on top.
//
// The size of a larger comment is known only once it is read. So a page is stopped when it has
// spent LargestCall more than the bound. Calls that are under way then still finish.
//
// A list that is restricted to traits has no partitions that hold only its comments. LargestCall is
// added to its bound whatever the sizes, and its calls stay within that. The same holds for a list
// in the order of votes with any condition or range of dates.
//
// The same bound holds for a count, which begins no call that might exceed it.

const (
	// BoundFactor is how many times its estimate a page or a count may cost, if no comment has more
	// than 1 KB.
	BoundFactor = 8
	// LargestCall is how many read units one eventually consistent call consumes at most: it reads
	// up to 1 MB.
	LargestCall = 128
)

// Meter adds up what the calls for one page or for one count consume. It is safe for use by many
// goroutines.
type Meter struct {
	// Estimate is the estimated cost of the page or the count, in read units.
	Estimate float64

	limit float64
	cure  string // what to ask for instead, for the error message

	mu       sync.Mutex
	spent    float64
	reserved float64   // by calls that have not ended
	ended    sync.Cond // of a call that had reserved
	fetched  int       // recently moved comments
}

// NewMeter makes a meter for an estimate in read units, at least 0. cure is the part of the error
// message that says what to ask for instead.
func NewMeter(estimate float64, cure string) *Meter {
	m := &Meter{Estimate: estimate, limit: BoundFactor*estimate + LargestCall, cure: cure}
	m.ended.L = &m.mu
	return m
}

// Check returns a comment.TooCostly error if no further call may begin.
func (m *Meter) Check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent < m.limit {
		return nil
	}
	return m.refusal()
}

// Most returns the bound in read units, if no comment has more than 1 KB.
func (m *Meter) Most() float64 { return BoundFactor * m.Estimate }

func (m *Meter) refusal() error {
	return comment.Errorf(comment.TooCostly, "reading this takes more than %.0f read units, and was stopped: %s", m.limit, m.cure)
}

// Add adds the read units that a call consumed.
func (m *Meter) Add(units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += units
}

// Reserve lowers the Limits of parallel calls, and reserves what they may consume if no comment has
// more than 1 KB. So they stay within the bound of Check even if they return nothing, and so do
// other calls at the same time. Release each Limit when its call has ended. If others have reserved
// all that is left, Reserve waits for them: they may consume far less. The error is
// comment.TooCostly if nothing is left; then nothing is reserved.
func (m *Meter) Reserve(limits []*int) error {
	if len(limits) == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	left := func() int { return ItemsWithin(m.limit-m.spent-m.reserved, len(limits)) }
	for left() < 1 {
		if m.reserved == 0 {
			return m.refusal()
		}
		m.ended.Wait()
	}
	most := left()
	for _, limit := range limits {
		*limit = min(*limit, most)
		m.reserved += AssumedUnits(*limit)
	}
	return nil
}

// Release gives back what Reserve reserved for one call.
func (m *Meter) Release(limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= AssumedUnits(limit)
	m.ended.Broadcast()
}

// mostFetched is how many recently moved comments are fetched for one page, and how many for its
// places among comments with helpful votes. Each costs a read unit or more.
const mostFetched = 25

// Fetch returns how many of n recently moved comments may be fetched by id, and counts them.
func (m *Meter) Fetch(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = min(n, mostFetched-m.fetched)
	m.fetched += n
	return n
}

// CountLimit returns the Limit for each of several parallel calls that count. With it they stay
// within the bound if no comment has more than 1 KB. It returns a comment.TooCostly error if that
// would be less than leastCounted.
func (m *Meter) CountLimit(calls int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := ItemsWithin(m.Most()-m.spent, calls)
	if limit < leastCounted {
		return 0, m.refusal()
	}
	return limit, nil
}

// leastCounted is the lowest Limit of a call that counts. With lower ones, the last of many
// comments would take ever more calls.
const leastCounted = 32

// UnitBytes is how many bytes one read unit reads consistently; eventually consistent reads take
// half a unit for them. DynamoDB rounds up: an item of one byte costs as much as one of 4 KB.
const UnitBytes = 4 << 10

// AssumedItemBytes is the assumed size of an index entry before comments of the product were read:
// 200 bytes of keys and short attributes, and a text of some 130 words.
const AssumedItemBytes = 1 << 10

// ItemsPerHalfUnit is how many items of AssumedItemBytes half a unit reads.
const ItemsPerHalfUnit = UnitBytes / AssumedItemBytes

// EventualUnits returns the cost of reading bytes in one eventually consistent call, in read units.
func EventualUnits(bytes int) float64 { return math.Ceil(float64(bytes)/UnitBytes) / 2 }

// AssumedUnits returns the cost of a call that scans items of AssumedItemBytes each, in read units.
func AssumedUnits(items int) float64 { return EventualUnits(items * AssumedItemBytes) }

// ItemsWithin returns how many items of AssumedItemBytes each call may scan, if all calls together
// may cost the given read units. It is a multiple of ItemsPerHalfUnit, and 0 if no units are left.
func ItemsWithin(units float64, calls int) int {
	return int(max(0, units)/float64(calls)*2) * ItemsPerHalfUnit
}
