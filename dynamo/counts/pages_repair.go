package counts

import (
	"time"

	"github.com/talkback/talkback/pageindex/runs"
)

// pageHead is the head of a page index after a repair.
type pageHead struct {
	// head is the encoded head, nil for none, and entry an entry of the log that goes with it.
	head  []byte
	entry *runs.Entry
	// anew says that the index starts anew or ends, wrong that it did not match its markers.
	anew, wrong bool
}

// pageHeadOf decides about the head of a product's page index after a steady look. An index that
// matches its markers stays. Any other starts anew, if it is kept: a large one at once, so that it
// is there when the rebuild is done, and a small one when the product is next counted.
func pageHeadOf(seen *examined, kept bool, now time.Time) pageHead {
	before := seen.before.head
	out := pageHead{anew: before != nil, wrong: seen.runs.wrong() != ""}
	switch {
	case !kept:
		return pageHead{}
	case len(seen.marked) == 0:
		return out
	case before != nil && !out.wrong:
		return pageHead{head: before}
	}
	head, entry := countInHead(startHead(seen.marked, seen.newest, now), nil)
	if entry != nil || before != nil {
		out.head, out.entry, out.anew = head.Encode(), entry, true
	}
	return out
}
