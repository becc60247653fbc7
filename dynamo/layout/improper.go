package layout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// What becomes of items that are not what they should be, because someone changed them by hand: each is passed over and
// reported by its key, never by what stands in it, and spoils nothing for the others.

// Improper is an item that is not what it should be.
type Improper struct {
	// Key is its partition key and its sort key, which is left out of what a list passes over.
	Key string
	// Reason is what is wrong with it, without anything that was written.
	Reason string
}

// NewImproper is an item that is not what it should be.
func NewImproper(it Item, reason string) Improper {
	key := NewReader(it).Text(AttrPK)
	if sort := NewReader(it).Text(AttrSK); sort != "" {
		key += "/" + sort
	}
	return Improper{Key: key, Reason: reason}
}

// String is the key and the reason on one line.
func (i Improper) String() string { return fmt.Sprintf("item %s: %s", i.Key, i.Reason) }

// SortedImproper are items in the order of their keys, each once.
func SortedImproper(items []Improper) []Improper {
	slices.SortFunc(items, func(a, b Improper) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(items)
}

// maxNoted bounds the improper items that are told of, and remembered so that none is told twice.
const maxNoted = 1000

// Reporter are improper items that reads came across. Each is told of once. The nil noted tells nobody.
type Reporter struct {
	tell func(Improper)

	mu   sync.Mutex
	told map[string]bool
}

// NewReporter makes a reporter that tells a function of each item, from many goroutines.
func NewReporter(tell func(Improper)) *Reporter {
	return &Reporter{tell: tell, told: map[string]bool{}}
}

// Report tells of items that were not told of before.
func (n *Reporter) Report(items ...Improper) {
	if n == nil || len(items) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, item := range items {
		if !n.told[item.Key] && len(n.told) < maxNoted {
			n.told[item.Key] = true
			n.tell(item)
		}
	}
}
