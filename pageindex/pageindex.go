// Package pageindex finds places in a list of comments by their rank: page 312 of a list, with 20
// comments a page, begins after comment 6,220. An Index finds that place without reading the
// comments before it. Lists are those that cursors page through, under any filter of languages,
// ratings and dates, in both orders.
//
// An [Index] answers. A [Store] is an Index that is kept up to date from outside: it is fed with
// entries, each of which says in which cell one comment counts. It is rebuilt from all of them.
// Each subfolder is one store; package conformance holds what all of them promise. [Search] finds
// ranks for stores that keep one sorted list for each language and rating. [Numbers] asks for what a page
// shows, also of lists in another order, which are chains of lists in the order of dates.
package pageindex

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// List is a whole list of comments.
type List struct {
	// Product is the product of the comments.
	Product string
	// Filter selects comments. It must be normalized. Its dates bound the list.
	Filter comment.Filter
	// Order is the order of the list, one by date for an Index.
	Order comment.Order
}

// Target is what to find in a list: a rank, or the rank of a position.
type Target struct {
	// Rank is how many comments of the list are to come before the boundary, from 0. It is ignored
	// if At is given.
	Rank int
	// Exact asks for a boundary with that very rank. Without it, the boundary may lie before, with a
	// lower rank, where that costs less.
	Exact bool
	// AtComment asks, of an Exact target, for the position of the comment before the boundary, rather
	// than for any between that comment and the next.
	AtComment bool
	// Size is how many comments from the rank on are going to be read, 0 for any number. With it, the
	// boundary may also lie behind them, where that leaves fewer comments between; or among them, where
	// any other leaves many: then they are read from it in both directions.
	Size int
	// At asks for the boundary right behind this position, whether a comment of the list is there or
	// not. Its rank is exact.
	At *comment.Position
}

// Boundary is a place between two neighbours of a list.
type Boundary struct {
	// Rank is how many comments of the list come before it. It is exact.
	Rank int
	// After is a position such that the comments before the boundary are those at or before it, in
	// the order of the list. There need not be a comment at it. It is nil at the beginning of the
	// list.
	After *comment.Position
}

// Cost is what a lookup cost.
type Cost struct {
	// Calls is how many calls the store got, Waves how many of them had to wait for others: parallel
	// calls are one wave.
	Calls, Waves int
	// ReadUnits is what calls to DynamoDB consumed, in read capacity units; 0 for other stores.
	ReadUnits float64
}

// Add adds the cost of what came afterwards.
func (c *Cost) Add(more Cost) {
	c.Calls, c.Waves, c.ReadUnits = c.Calls+more.Calls, c.Waves+more.Waves, c.ReadUnits+more.ReadUnits
}

// Found is the answer to a lookup.
type Found struct {
	// Counts is how many comments the whole list has, by rating.
	Counts comment.Counts
	// Boundaries has one boundary for each target, in their order. For a rank beyond the end it is
	// the end of the list: its rank is the number of comments.
	Boundaries []Boundary
	// Cost is what the lookup cost.
	Cost Cost
}

// Index finds places in lists.
type Index interface {
	// Find finds targets in a list; without targets it only counts. All of the answer is of one
	// state of the index. An error of the kind Unavailable says that the index is not complete, or
	// away, and what to do.
	Find(ctx context.Context, list List, targets []Target) (Found, error)
}

// Entry says in which cell one comment counts.
type Entry struct {
	// Product is the comment's product, Position its place in every list.
	Product  string
	Position comment.Position
	// Cell is its language and rating; nil for a comment that is not there any more.
	Cell *comment.Cell
	// Follows orders the entries of one comment: a later one is greater as text. An entry that does
	// not come after the one that the store has of the comment changes nothing.
	Follows stream.Position
}

// Store is an index outside the transactions that count. It holds, for each comment, the entry that
// comes last by Follows, in whatever order and however often entries come. It keeps the entry of a
// comment that is not there any more for Remember at least, so that an older entry that comes late
// does not bring the comment back. A product whose comments are all gone leaves nothing else behind.
//
// All methods are safe for concurrent use, by several processes unless the store says otherwise.
// Errors of a store that is away or slow are of the kind Unavailable or Timeout; they name the store
// without its password.
type Store interface {
	Index
	// Covers returns what the store is complete for: the text that Finish was last given, empty if
	// the store never was complete or was emptied. Find answers also while it is not.
	Covers(ctx context.Context) (string, error)
	// Apply brings entries in, all or, with an error, perhaps some of them. What is acknowledged
	// survives the end of the process.
	Apply(ctx context.Context, entries []Entry) error
	// Build begins to build the store anew. Only one process does at a time; an earlier build that
	// was not finished ends. Until Finish, the store answers as before, and Apply goes on.
	Build(ctx context.Context) (Build, error)
	// Products tells all products that the store has comments of, in any order. It may tell some more
	// than once, and others whose comments are all gone.
	Products(ctx context.Context, tell func(product string)) error
	// Close ends the use of the store by this process.
	Close() error
}

// Renewer is a store whose Covers can be replaced without a build.
type Renewer interface {
	// Renew replaces what Covers returns. The error is of the kind Conflict if that is not what it was.
	Renew(ctx context.Context, was, covers string) error
}

// Build builds a store anew. In the end the store holds what was added, and what was applied since
// the build began; of both, for each comment, the entry that comes last by Follows. Whatever else it
// held is gone.
type Build interface {
	// Add brings entries in, as Apply does.
	Add(ctx context.Context, entries []Entry) error
	// Finish makes the store complete. Covers returns the text from then on. The error is of the
	// kind Conflict if a later build has begun.
	Finish(ctx context.Context, covers string) error
}

// Remember is how long a store keeps the entry of a comment that is not there any more. Records stay
// in the table's stream for 24 hours, and one that was read is applied within an hour after that.
const Remember = 72 * time.Hour

// ErrInUse is why a store that belongs to one process at a time cannot be opened by another one.
var ErrInUse = errors.New("it is in use by another process; end that one, or give each process a store of its own: table, redis, postgres and s3 can be shared")
