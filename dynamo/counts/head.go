package counts

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// The index behind page numbers counts the comments of each product in stretches (package runs).
// Its head is an attribute of the statistics item, and its log has an entry for each change below
// the head. Both change in the transaction that counts, so the index is as exact as the counts.
//
// A writer that does not keep the index writes statistics without the head, so an existing head
// includes all changes. Without one, the index starts anew from the statistics: all comments are in
// the head, which becomes a run at once if it is large. A merge splits that run.

// aheadOfClocks is how far in the future the highest position of a new index lies at least. A read
// may see part of a transaction: the statistics with a comment, but not yet its marker.
const aheadOfClocks = time.Minute

// startHead returns the head of an index that starts anew. counts has the counts of all languages,
// and newest is the position of the newest marker.
func startHead(counts comment.Stats, newest comment.Position, now time.Time) runs.Head {
	highest := slices.MaxFunc([]comment.Position{newest, comment.FirstAt(now.Add(aheadOfClocks))}, comment.Position.Compare)
	return runs.Start(counts, highest, now)
}

// maxIndexBytes is the maximum size of a head and of an entry of the log. A product with so many
// languages that it exceeds this has no index.
const maxIndexBytes = 64 << 10

// countInHead applies changes to the index of a product. A product without a head has no index.
func countInHead(head runs.Head, changes []runs.Change) (next runs.Head, entry *runs.Entry) {
	if !head.Exists() {
		return runs.Head{}, nil
	}
	next, entry = head.Apply(changes)
	if len(next.Encode()) > maxIndexBytes || entry != nil && len(entry.Encode()) > maxIndexBytes {
		return runs.Head{}, nil
	}
	return next, entry
}

// appendEntry appends the write of an entry of the log, if there is one.
func appendEntry(writes []types.TransactWriteItem, table, product string, entry *runs.Entry) []types.TransactWriteItem {
	if entry == nil {
		return writes
	}
	return append(writes, call.PutIf(table, layout.LogEntryItem(product, entry.Number, entry.Encode()), "", nil))
}

// pageHead is the head of a page index after a repair.
type pageHead struct {
	// head is the encoded head, nil for none, and entry is the entry of the log to write with it.
	head  []byte
	entry *runs.Entry
	// starts is whether the index starts anew, ends whether it ends, and wrong whether it did not
	// match its markers.
	starts, ends, wrong bool
}

// pageHeadOf decides about the head of a product's page index after a steady look. There is none if
// the look compared no page index, since the table then keeps none. An index that matches its
// markers stays. A wrong one ends, so that its items can be deleted. A large product without an
// index gets one at once, so that it exists when the rebuild is done. A small one gets it when it
// is next counted.
func pageHeadOf(seen *examination, now time.Time) pageHead {
	before, wrong := seen.before.head, seen.runs.wrong() != ""
	switch {
	case !seen.checked:
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
