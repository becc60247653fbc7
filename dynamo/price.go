package dynamo

import (
	"math"

	"github.com/talkback/talkback/comment"
)

// What reading costs, in read capacity units.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	// assumedLeaderBytes is what an entry of a leaderboard is assumed to have: its four keys, each with the product's id.
	assumedLeaderBytes = 256
	// writePrice is how many read units cost as much as a write unit: https://aws.amazon.com/dynamodb/pricing/on-demand/
	writePrice = 5
)

// Prices are what the Store's reads and writes may cost, estimated before anything is known of a product.
type Prices struct{}

// PageUnits is what one page of a list may cost, read from partitions that hold nothing else, each of which holds as many
// comments as are wanted. Whatever is found, reading stops at BoundFactor times this. The filter must be normalized; its
// dates, the product and the cursors do not matter.
func (Prices) PageUnits(q comment.Query) float64 { return pageEstimate(q) }

func pageEstimate(q comment.Query) float64 {
	var w window
	return narrowUnits(q.Filter, w.want(q.Slice.Size))
}

// CountUnits is what counting a list within a range of dates may cost, if the range holds assumedCounted comments, evenly
// spread over the partitions. Counting stops at BoundFactor times this. The filter must be normalized; neither its dates nor
// the slice matter.
func (Prices) CountUnits(q comment.Query) float64 { return countEstimate(q) }

func countEstimate(q comment.Query) float64 {
	reads := undated(q).count(q.Count).Reads
	return float64(len(reads)) * eventualUnits(assumedCounted*assumedItemBytes/len(reads))
}

// undated plans a question as if nothing were known, of its product neither.
func undated(q comment.Query) planner {
	return planner{filter: comment.Filter{Languages: q.Filter.Languages, Ratings: q.Filter.Ratings}}
}

// eventualUnits is what reading so many bytes costs in one call, eventually consistently.
func eventualUnits(bytes int) float64 { return math.Ceil(float64(bytes)/unitBytes) / 2 }

// StatsUnits is what fetching the statistics of one product costs: its item is far below 4 KB with dozens of languages.
func (Prices) StatsUnits() float64 { return 0.5 }

// LeadersUnits is what a leaderboard of so many products may cost: its settings, and from each of defaultLeaderShards as many
// entries. It is high enough for BoundFactor times it to be the most that a leaderboard of any number of shards costs,
// whatever they hold: half a unit for each of MaxLeaderShards, and some of them read on. While a rebuild changes the number
// of shards, they are read twice.
func (Prices) LeadersUnits(first int) float64 {
	const eachShard = MaxLeaderShards * 0.5 / BoundFactor
	return 0.5 + max(eachShard, defaultLeaderShards*eventualUnits(first*assumedLeaderBytes))
}

// CommentUnits is what fetching one comment costs: a consistent read of its own.
func (Prices) CommentUnits() float64 { return 1 }

// WriteUnits is what writing one comment costs, in as many read units as have the same price: a write unit for the table
// and for each index.
func (Prices) WriteUnits() float64 { return float64(writePrice * (1 + len(indexes))) }

// assumedCounted is how many comments a range of dates is assumed to hold when they are counted. That is more than most
// products ever have; of one that has thousands, a range of years costs more than is estimated, up to the bound.
const assumedCounted = 400

// unitBytes is what one unit reads, or half a one when the read is eventually consistent. Less is not sold: an item of
// one byte costs as much as one of 4 KB.
const unitBytes = 4 << 10

// assumedItemBytes is what an item of an index is assumed to have, before anything is known of a product's comments:
// 200 bytes of keys and short attributes, and a text of some 130 words.
const assumedItemBytes = 1 << 10
