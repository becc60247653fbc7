package dynamo

import (
	"sync"

	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
)

// lookupPrices remembers what it took the index to find pages. It is safe for use by many
// goroutines.
type lookupPrices struct {
	mu   sync.Mutex
	mean planner.LookupPrice
}

// assumedLookup is assumed of an index that was not asked yet: that of the table takes as much.
var assumedLookup = planner.LookupPrice{Units: 2, Waves: 2, Skip: 32}

func newLookupPrices() *lookupPrices { return &lookupPrices{mean: assumedLookup} }

// expected is what the next lookup is expected to take.
func (p *lookupPrices) expected() planner.LookupPrice {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mean
}

// learn takes in what a lookup took that found a page and left so many comments to be skipped.
func (p *lookupPrices) learn(cost pageindex.Cost, skip int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	follow := func(mean *float64, seen float64) { *mean += learning * (seen - *mean) }
	follow(&p.mean.Units, cost.ReadUnits)
	follow(&p.mean.Waves, float64(cost.Waves))
	follow(&p.mean.Skip, float64(skip))
}
