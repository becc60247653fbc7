package dynamo

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// recent remembers what pages held that were read lately. It is safe for use by many goroutines.
type recent struct {
	now func() time.Time

	mu   sync.Mutex
	read *simplelru.LRU[queryKey, recentPage]
}

// recentPage is what is remembered of one page, half a kilobyte with its question.
type recentPage struct {
	held  *planner.LastPage
	first comment.Position // of the comments taken
	at    time.Time        // when it was read
	// came is how many comments came in front of it within elapsed; zero if none can.
	came    float64
	elapsed time.Duration
}

// Of a page that begins with the newest comment it is assumed that one comes in a minute. Then what is seen of it counts,
// of which half is forgotten each time.
const (
	assumedCame    = 1
	assumedElapsed = time.Minute
)

func newRecent() *recent {
	return &recent{now: time.Now, read: newLRU[queryKey, recentPage](remembered, nil)}
}

// remembers tells whether it matters what a page held. A list that is one partition is read as far as is wanted anyway.
func (k queryKey) remembers() bool { return k.conditions > 1 }

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

// moved is how many comments are expected to have come in front of the page by now, and one deviation more, since such
// numbers are small and their guess is rough.
func (r recentPage) moved(now time.Time) float64 {
	if r.came == 0 {
		return 0
	}
	came := r.came * max(0, float64(now.Sub(r.at))) / float64(r.elapsed)
	return came + math.Sqrt(came)
}

// learn takes note of what was taken for the page of a query, at least one comment, and of what reading it found. fromNewest
// says that the page begins with the newest comment of the list.
func (p *recent) learn(key queryKey, held *planner.LastPage, fromNewest bool, taken []comment.Comment) {
	key = key.page()
	recent := recentPage{held: held, first: taken[0].ID.Position(), at: p.now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if fromNewest {
		before, known := p.read.Peek(key)
		recent.follow(before, known, taken)
	}
	p.read.Add(key, recent)
}

// follow learns how quickly comments come in front of a page that begins with the newest.
func (r *recentPage) follow(before recentPage, known bool, taken []comment.Comment) {
	r.came, r.elapsed = assumedCame, assumedElapsed
	if known {
		r.came = before.came/2 + float64(newerThan(before.first, taken))
		r.elapsed = max(1, before.elapsed/2+r.at.Sub(before.at))
	}
}

// newerThan is how many of some comments, newest first, are newer than a position.
func newerThan(position comment.Position, taken []comment.Comment) int {
	for i, c := range taken {
		if c.ID.Position().Compare(position) <= 0 {
			return i
		}
	}
	return len(taken)
}
