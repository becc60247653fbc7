package dynamo

import (
	"math"
	"sort"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
)

// learning is the weight of the latest page, of comment.DefaultPageSize comments, in the estimate
// of a product's item sizes.
const learning = 0.2

// sizes estimates how large the comments of recently read products are: by product, the sums of one
// typical entry. It is safe for use by many goroutines.
type sizes struct{ *lru.Cache[string, sizeSums] }

func newSizes() sizes { return sizes{newLRU[string, sizeSums](remembered, nil)} }

// of returns the estimated sizes of a product's comments, zero if none was read.
func (s sizes) of(product string) planner.Sizes {
	known, _ := s.Get(product)
	out := planner.Sizes{Any: known[0].size()}
	for i := range out.ByRating {
		out.ByRating[i] = known[1+i].size()
	}
	return out
}

// size returns the size of an entry, zero if there is none.
func (m sizeSum) size() planner.ItemSize {
	one := m.mean()
	return planner.ItemSize{Mean: one.sum, Deviation: math.Sqrt(max(0, one.squares-one.sum*one.sum))}
}

// sizeSums adds up the sizes of entries that were read: at 0 of all ratings together, then of each
// rating.
type sizeSums [1 + comment.MaxRating]sizeSum

// sizeSum is a number of sizes, their sum and the sum of their squares.
type sizeSum struct{ count, sum, squares float64 }

// add adds an entry. An out-of-range rating (edited by hand) counts toward the overall size only.
func (m *sizeSums) add(rating, bytes int) {
	one := sizeSum{1, float64(bytes), float64(bytes) * float64(bytes)}
	m[0].add(one)
	if rating >= 1 && rating <= comment.MaxRating {
		m[rating].add(one)
	}
}

func (m *sizeSum) add(more sizeSum) {
	m.count += more.count
	m.sum += more.sum
	m.squares += more.squares
}

// learn updates the estimates for a product from entries that were read. Of two updates at the same
// time, one may be lost.
func (s sizes) learn(product string, read sizeSums) {
	if read[0].count == 0 {
		return
	}
	believed, known := s.Get(product)
	for i := range believed {
		if !known {
			believed[i] = read[0].mean() // until entries of a rating are read, its estimate is that of all
		}
		if seen := read[i]; seen.count > 0 {
			// The more entries were read, the farther they move the estimate.
			share, one := 1-math.Pow(1-learning, seen.count/comment.DefaultPageSize), seen.mean()
			believed[i].sum += share * (one.sum - believed[i].sum)
			believed[i].squares += share * (one.squares - believed[i].squares)
		}
	}
	s.Add(product, believed)
}

// mean returns the sums of one typical entry.
func (m sizeSum) mean() sizeSum {
	n := max(1, m.count)
	return sizeSum{1, m.sum / n, m.squares / n}
}

// keyBytes is the size of the fixed part of an entry's partition key: its name, prefix, separators
// and rating. The product's id and the language come on top.
const keyBytes = len(layout.AttrAll) + len(layout.ProductPKPrefix) + len("//5")

// entryBytes returns about the size of a comment's entry in the index by language and rating.
// listed is the size of the attributes that the list returned. Entries of other indexes are a few
// bytes smaller.
func entryBytes(c comment.Comment, listed int) int {
	return keyBytes + len(c.ProductID) + len(c.Language) + listed
}

// lookupPrices estimates what lookups in the index of page numbers cost. It is safe for use by many
// goroutines.
type lookupPrices struct {
	mu    sync.Mutex
	price planner.RankPrice
}

// TypicalLookup returns the estimate before the first lookup: what it typically costs to find a
// page in the index of page numbers that is in the table.
func TypicalLookup() planner.LookupPrice { return planner.LookupPrice{Units: 2, Waves: 2, Skip: 16} }

// assumedPlace is the estimate for each of several places before the first lookup: the markers of a
// run.
const assumedPlace = 1

// learn updates the estimate from the cost of a lookup that found a page, with skip comments to be
// skipped before it.
func (p *lookupPrices) learn(cost pageindex.Cost, skip int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	follow := func(mean *float64, seen float64) { *mean += learning * (seen - *mean) }
	follow(&p.price.Lookup.Units, cost.ReadUnits)
	follow(&p.price.Lookup.Waves, float64(cost.Waves))
	follow(&p.price.Lookup.Skip, float64(skip))
}

// ranks returns the expected cost of the next lookup, and of finding comments by rank.
func (p *lookupPrices) ranks() *planner.RankPrice {
	p.mu.Lock()
	defer p.mu.Unlock()
	return new(p.price)
}

// learnPlaces updates the estimate from the cost of finding comments by rank.
func (p *lookupPrices) learnPlaces(cost pageindex.Cost, places int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.price.Place += learning * (max(0, cost.ReadUnits-p.price.Lookup.Units)/float64(max(1, places)) - p.price.Place)
}

// recent remembers what recently read pages held. It is safe for use by many goroutines.
type recent struct {
	*lru.Cache[queryKey, recentPage]
}

// recentPage describes one page in about a kilobyte, its key included.
type recentPage struct {
	held  *planner.LastPage
	first comment.Position // the position of the first comment that was taken
	at    time.Time        // when the page was read
	// came is how many comments arrived in front of the page within elapsed; zero if none can
	// arrive there.
	came    float64
	elapsed time.Duration
}

// A page that begins with the newest comment is assumed to get one comment a minute. Each read of
// the page halves the weight of earlier observations.
const (
	assumedCame    = 1
	assumedElapsed = time.Minute
)

func newRecent() recent { return recent{newLRU[queryKey, recentPage](remembered, nil)} }

// remembers reports whether it helps to know the contents of a page. It does not for a list in one
// partition, which is read exactly as far as needed. Nor does it for a page by number, which is
// found in another way each time.
func (k queryKey) remembers() bool { return k.values > 1 && k.number <= 1 }

// of returns what the page of a query held when it was last read, nil if that is unknown.
func (p recent) of(key queryKey) *planner.LastPage {
	if !key.remembers() {
		return nil
	}
	recent, known := p.Get(key.page())
	if !known {
		return nil
	}
	return recent.held.Shifted(recent.arrived())
}

// arrived returns how many comments are expected to have arrived in front of the page by now. It
// adds one standard deviation, because small numbers are estimated badly.
func (r recentPage) arrived() float64 {
	if r.came == 0 {
		return 0
	}
	came := r.came * float64(time.Since(r.at)) / float64(r.elapsed)
	return came + math.Sqrt(came)
}

// learn remembers the page of a query: what it held, and its comments, at least one. fromNewest
// says that the page begins with the newest comment of the list.
func (p recent) learn(key queryKey, held *planner.LastPage, fromNewest bool, taken []layout.Compressed) {
	key = key.page()
	recent := recentPage{held: held, first: taken[0].ID.Position(), at: time.Now()}
	before, known := p.Get(key)
	if fromNewest {
		recent.came, recent.elapsed = assumedCame, assumedElapsed
		if known {
			newer := sort.Search(len(taken), func(i int) bool { return taken[i].ID.Position().Compare(before.first) <= 0 })
			recent.came = before.came/2 + float64(newer)
			recent.elapsed = max(1, before.elapsed/2+recent.at.Sub(before.at))
		}
	}
	p.Add(key, recent)
}

// failedAge is how long no attempt is made after a failed one: statistics that steer may be wrong
// for about that long.
const failedAge = time.Minute

// attempts remembers which attempts were recently given up. So a list with wrong counts pays for
// one failed attempt instead of one a page. It is safe for use by many goroutines.
type attempts struct {
	*lru.Cache[attemptKey, time.Time]
}

// attemptKey identifies an attempt. A probe has a key of its own: its bound is lower than that of a
// page.
type attemptKey struct {
	product    string
	conditions string
	purpose    comment.ReadPurpose
}

// attempt returns the key of an attempt to read a page of a query, or to probe beside it.
func (k queryKey) attempt(purpose comment.ReadPurpose) attemptKey {
	return attemptKey{product: k.product, conditions: k.conditions, purpose: purpose}
}

// failedLately reports whether such an attempt was given up within failedAge.
func (a attempts) failedLately(key attemptKey) bool {
	at, known := a.Get(key)
	return known && time.Since(at) < failedAge
}
