package layout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Improper items are items that Talkback cannot have written, for example because they were edited
// by hand. A read skips such an item and reports its key, but none of its values. Other items are
// not affected.

// Improper describes an item that Talkback cannot have written.
type Improper struct {
	// Key is the partition key, followed by a slash and the sort key. Items read from a list index
	// have the partition key only.
	Key string
	// Reason says what is wrong with the item. It holds no text of a comment.
	Reason string
}

// NewImproper returns the Improper of an item.
func NewImproper(it Item, reason string) Improper {
	r := NewReader(it)
	key := r.Text(AttrPK)
	if sort := r.OptionalText(AttrSK); sort != "" {
		key += "/" + sort
	}
	return Improper{Key: key, Reason: reason}
}

// String returns the key and the reason on one line.
func (i Improper) String() string { return fmt.Sprintf("item %s: %s", i.Key, i.Reason) }

// SortedImproper sorts items by key and reason, and removes duplicates.
func SortedImproper(items []Improper) []Improper {
	slices.SortFunc(items, func(a, b Improper) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(items)
}

// maxNoted is how many improper items a Reporter reports at most. It remembers their keys, to
// report none twice.
const maxNoted = 1000

// Reporter reports the improper items that reads come across, each key once. A nil Reporter reports
// nothing. It is safe for concurrent use.
type Reporter struct {
	tell func(Improper)

	mu   sync.Mutex
	seen map[string]bool
}

// NewReporter returns a Reporter that calls tell for each item. Reads on many goroutines call it,
// one call at a time.
func NewReporter(tell func(Improper)) *Reporter {
	return &Reporter{tell: tell, seen: map[string]bool{}}
}

// Report reports those items that were not reported before.
func (n *Reporter) Report(items ...Improper) {
	if n == nil || len(items) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, item := range items {
		if !n.seen[item.Key] && len(n.seen) < maxNoted {
			n.seen[item.Key] = true
			n.tell(item)
		}
	}
}
