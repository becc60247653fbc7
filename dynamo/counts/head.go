package counts

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// The index behind page numbers counts the comments of each product in stretches (package runs).
// Its head is an attribute of the statistics item, and each change below the head is in an entry of
// its log. Both change in the transaction that counts. So the index is exact for the same reason as
// the counts are.
//
// A writer that does not keep the index writes statistics without the head. A head that is there
// has therefore seen all changes. Without one, the index starts anew from the statistics: all
// comments are in the head, which becomes a run at once if it is large. A merge splits that.

// aheadOfClocks is how far above the newest marker and the present time the highest position of a
// new index lies, at least. A read may see a transaction in part: the statistics with a comment,
// and not yet its marker.
const aheadOfClocks = time.Minute

// startHead returns the head of an index that starts anew. counts is the counts of all languages,
// newest the position of the newest marker.
func startHead(counts comment.Stats, newest comment.Position, now time.Time) runs.Head {
	highest := newest
	if soon := comment.FirstAt(now.Add(aheadOfClocks)); soon.Compare(highest) > 0 {
		highest = soon
	}
	return runs.Start(counts, highest, now)
}

// maxIndexBytes is the maximum size of a head and of an entry of the log. A product with languages
// enough to exceed it has no index.
const maxIndexBytes = 64 << 10

// countInHead brings changes into the index of a product. Without a head, the product has none.
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
