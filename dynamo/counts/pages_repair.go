package counts

import (
	"time"

	"github.com/talkback/talkback/pageindex/runs"
)

// pageHead is the head of a page index after a repair.
type pageHead struct {
	// head is the encoded head, nil for none, and entry is the entry of the log to write with it.
	head  []byte
	entry *runs.Entry
	// starts is whether the index starts anew, ends whether it ends, and wrong whether it did not
	// match its markers.
	starts, ends, wrong bool
}

// pageHeadOf decides about the head of a product's page index after a steady look; kept is whether
// the table keeps page indexes. An index that matches its markers stays. A wrong one ends, so that
// its items can be deleted. A large product without an index gets one at once, so that it exists
// when the rebuild is done. A small one gets it when it is next counted.
func pageHeadOf(seen *examination, kept bool, now time.Time) pageHead {
	before, wrong := seen.before.head, seen.runs.wrong() != ""
	switch {
	case !kept:
		return pageHead{}
	case before != nil && (wrong || len(seen.marked) == 0):
		return pageHead{ends: true, wrong: wrong}
	case before != nil:
		return pageHead{head: before}
	}
	head, entry := countInHead(startHead(seen.marked, seen.newest, now), nil)
	if entry == nil {
		return pageHead{}
	}
	return pageHead{head: head.Encode(), entry: entry, starts: true}
}
