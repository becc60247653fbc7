package dynamo

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// recent remembers what recently read pages held. It is safe for use by many goroutines.
type recent struct {
	now func() time.Time

	mu   sync.Mutex
	read *simplelru.LRU[queryKey, *recentPage]
}

// recentPage describes one page in about a kilobyte, its key included.
type recentPage struct {
	held  *planner.LastPage
	first comment.Position // of the comments taken
	at    time.Time        // when it was read
	// came is how many comments arrived in front of the page within elapsed; zero if none can.
	came    float64
	elapsed time.Duration
}

// A page that begins with the newest comment is assumed to get one comment a minute. Each time the
// page is read, what was seen since counts for half of the rate.
const (
	assumedCame    = 1
	assumedElapsed = time.Minute
)

func newRecent() *recent {
	return &recent{now: time.Now, read: newLRU[queryKey, *recentPage](remembered, nil)}
}

// remembers tells whether it helps to know what a page held. A list in one partition is read
// exactly as far as is wanted, and a page by number is found in another way each time.
func (k queryKey) remembers() bool { return k.values > 1 && k.number <= 1 }

// of is what the page of a query held when it was last read, nil if that is not known.
func (p *recent) of(key queryKey) *planner.LastPage {
	if !key.remembers() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	recent, known := p.read.Get(key.page())
	if !known {
		return nil
	}
	return recent.held.Shifted(recent.moved(p.now()))
}

// moved is how many comments are expected to have arrived in front of the page by now, plus one
// standard deviation, because small numbers are estimated badly.
func (r recentPage) moved(now time.Time) float64 {
	if r.came == 0 {
		return 0
	}
	came := r.came * max(0, float64(now.Sub(r.at))) / float64(r.elapsed)
	return came + math.Sqrt(came)
}

// learn remembers the page of a query: what it held, and its comments, at least one. fromNewest
// says that the page begins with the newest comment of the list.
func (p *recent) learn(key queryKey, held *planner.LastPage, fromNewest bool, taken []layout.Compressed) {
	key = key.page()
	recent := recentPage{held: held, first: taken[0].ID.Position(), at: p.now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	before, known := p.read.Get(key)
	if fromNewest {
		recent.follow(before, taken)
	}
	if known {
		*before = recent
		return
	}
	p.read.Add(key, new(recent))
}

// follow learns how quickly comments arrive in front of a page that begins with the newest, and what
// it held before; nil if that is not known.
func (r *recentPage) follow(before *recentPage, taken []layout.Compressed) {
	r.came, r.elapsed = assumedCame, assumedElapsed
	if before != nil {
		r.came = before.came/2 + float64(newerThan(before.first, taken))
		r.elapsed = max(1, before.elapsed/2+r.at.Sub(before.at))
	}
}

// newerThan counts the comments, newest first, that are newer than a position.
func newerThan(position comment.Position, taken []layout.Compressed) int {
	for i := range taken {
		if taken[i].ID.Position().Compare(position) <= 0 {
			return i
		}
	}
	return len(taken)
}
