package dynamo

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
)

// recent remembers what pages held that were read lately. It is safe for use by many goroutines.
type recent struct {
	seed maphash.Seed
	now  func() time.Time

	mu   sync.Mutex
	read *simplelru.LRU[uint64, recentPage]
}

// recentPage is what is remembered of one page, some 300 bytes.
type recentPage struct {
	held  *earlier
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
	lru, err := simplelru.NewLRU[uint64, recentPage](memorySize, nil)
	if err != nil {
		panic("dynamo: " + err.Error()) // the size is above 0
	}
	return &recent{seed: maphash.MakeSeed(), now: time.Now, read: lru}
}

// key tells pages apart, but for one in billions, which is then planned by what another held. It is 0 for lists that are
// one partition, whose reads need no limits but what is wanted.
func (p *recent) key(filter comment.Filter, product string, w window, want int) uint64 {
	if len(filter.Languages)+len(filter.Ratings) < 2 {
		return 0
	}
	key := append(make([]byte, 0, 256), product...)
	for _, language := range filter.Languages {
		key = append(append(key, 0), language...)
	}
	key = append(key, 0)
	for _, rating := range filter.Ratings {
		key = append(key, byte(rating))
	}
	key = append(append(key, 0), w.low[:]...)
	key = append(key, w.high[:]...)
	if w.descending {
		key = append(key, 1)
	}
	return maphash.Bytes(p.seed, binary.AppendUvarint(key, uint64(want)))
}

// of is what a page held when it was last read, nil if that is not known.
func (p *recent) of(key uint64) *earlier {
	if key == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	recent, known := p.read.Get(key)
	if !known {
		return nil
	}
	held := *recent.held
	held.moved = recent.moved(p.now())
	return &held
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

// learn takes note of what was taken for a page by a run.
func (p *recent) learn(key uint64, r *run, taken []comment.Comment) {
	if key == 0 || len(taken) == 0 {
		return
	}
	recent := recentPage{held: earlierOf(r, taken), first: taken[0].ID.Position(), at: p.now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.plan.Descending && r.plan.High == comment.MaxPosition {
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
