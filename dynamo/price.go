package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
)

// writePrice is how many read units cost as much as one write unit:
// https://aws.amazon.com/dynamodb/pricing/on-demand/
const writePrice = 5

// These functions estimate the cost of the Store's reads and writes, besides that of pages and
// counts, for a product of which nothing is known.

// StatsUnits returns the read units of fetching the statistics of one product. Even with dozens of
// languages, its item is far below 4 KB.
func StatsUnits() float64 { return 0.5 }

// LeadersUnits returns the estimated read units of a leaderboard of the first products.
func LeadersUnits(first int) float64 { return counts.LeadersUnits(first) }

// CommentUnits returns the read units of fetching one comment: a consistent read of its own.
func CommentUnits() float64 { return 1 }

// maxOwn is how many comments of a customer one page looks at, whatever their state.
const maxOwn = comment.MaxPageSize

// OwnUnits returns the read units of a page of a customer's comments: keys of an index, and a
// consistent read for each comment. If only one state is wanted, the page reads up to maxOwn
// comments.
func OwnUnits(size int, oneStatus bool) float64 {
	if oneStatus {
		size = maxOwn
	}
	return 0.5 + float64(size)*CommentUnits()
}

// QueueUnits returns the estimated read units of a page of the moderators' queue: the places, and
// each comment by its id.
func QueueUnits(first int) float64 {
	return layout.QueueShards*layout.EventualUnits(first*assumedPlaceBytes) + float64(first)*CommentUnits()
}

// PendingUnits returns the estimated read units of counting the queue.
func PendingUnits() float64 {
	return layout.QueueShards * layout.EventualUnits(comment.MaxQueueScan*assumedPlaceBytes/layout.QueueShards)
}

// assumedPlaceBytes is the assumed size of a place in the queue: its keys, with a product's id.
const assumedPlaceBytes = 128

// AuditUnits returns the estimated read units of the decisions about one comment.
func AuditUnits() float64 { return 1 }

// ErasureUnits returns the estimated read units of an erasure's progress: the item of one under
// way, and the mark of one that ended.
func ErasureUnits() float64 { return 2 }

// AddUnits returns the price of adding one comment of a customer, in read units: that of a write,
// and one write unit for the index of authors.
func AddUnits() float64 { return WriteUnits() + writePrice }

// VoteUnits returns the price of a vote, in read units: a read of the earlier vote, a write unit
// for the table and one for the index of authors. Counting is not included: many votes share its
// cost.
func VoteUnits() float64 { return ViewerVoteUnits() + 2*writePrice }

// ViewerVoteUnits returns the read units of a customer's vote about a comment: a consistent read.
func ViewerVoteUnits() float64 { return 1 }

// WriteUnits returns the price of changing one comment, in read units: one write unit for the table
// and one for each list index.
func WriteUnits() float64 { return float64(writePrice * (1 + len(layout.ListIndexes()))) }
