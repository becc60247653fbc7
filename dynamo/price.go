package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// writePrice is how many read units cost as much as a write unit: https://aws.amazon.com/dynamodb/pricing/on-demand/
const writePrice = 5

// Prices are what the Store's reads and writes may cost, estimated before anything is known of a product.
type Prices struct{}

// PageUnits is what one page of a list may cost, read from partitions that hold nothing else, each of which holds as many
// comments as are wanted. Whatever is found, reading stops at BoundFactor times this. The filter must be normalized; its
// dates, the product and the cursors do not matter.
func (Prices) PageUnits(q comment.Query) float64 { return planner.PageEstimate(q) }

// CountUnits is what counting a list within a range of dates may cost, if the range holds assumedCounted comments, evenly
// spread over the partitions. Counting stops at BoundFactor times this. The filter must be normalized; neither its dates nor
// the slice matter.
func (Prices) CountUnits(q comment.Query) float64 { return planner.CountEstimate(q) }

// StatsUnits is what fetching the statistics of one product costs: its item is far below 4 KB with dozens of languages.
func (Prices) StatsUnits() float64 { return 0.5 }

// LeadersUnits is what a leaderboard of so many products may cost.
func (Prices) LeadersUnits(first int) float64 { return counts.LeadersUnits(first) }

// CommentUnits is what fetching one comment costs: a consistent read of its own.
func (Prices) CommentUnits() float64 { return 1 }

// WriteUnits is what writing one comment costs, in as many read units as have the same price: a write unit for the table
// and for each index.
func (Prices) WriteUnits() float64 { return float64(writePrice * (1 + len(layout.ListIndexes()))) }
