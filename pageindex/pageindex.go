// Package pageindex finds places in a list of comments by their rank: page 312 of a list, with 20
// comments a page, begins after comment 6,220. An Index finds that place without reading the
// comments before it. It covers the lists that cursors page through by date: any filter of
// languages, ratings and dates, oldest or newest first.
//
// An [Index] answers lookups. A [Store] is an Index that is updated with entries, each of which
// says in which cell one comment counts, and can be rebuilt from all entries. Each subfolder is one
// store; package conformance tests what all of them promise. [Search] finds ranks for stores with
// one sorted list for each language and rating. [Numbers] looks up what a page shows; it also
// covers lists in other orders, as chains of lists by date.
package pageindex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// List is a whole list of comments.
type List struct {
	Product string
	// Filter selects comments. It must be normalized. Its dates bound the list.
	Filter comment.Filter
	// Order is the order of the list. An Index only knows orders by date.
	Order comment.Order
}

// Target is what to find in a list: a rank, or the rank of a position.
type Target struct {
	// Rank is how many comments of the list come before the boundary, from 0. It is ignored if At
	// is given.
	Rank int
	// Exact asks for a boundary with exactly that rank. Without it, the boundary may have a lower
	// rank if that costs less.
	Exact bool
	// AtComment asks an Exact target for the position of the comment before the boundary. Without
	// it, any position between that comment and the next will do.
	AtComment bool
	// Size is how many comments will be read from the rank on, 0 for any number. With it, the
	// boundary may also lie behind them, if fewer comments lie between. If any other would leave
	// many to skip, it may lie among them: then they are read from it in both directions.
	Size int
	// At asks for the boundary directly behind this position, whether or not a comment is there.
	// Its rank is exact.
	At *comment.Position
}

// Boundary is a place between two neighbours of a list.
type Boundary struct {
	// Rank is how many comments of the list come before it. It is exact.
	Rank int
	// After is a position: the comments before the boundary are those at or before it, in the order
	// of the list. There need not be a comment at it. It is nil at the beginning of the list.
	After *comment.Position
}

// Cost is what a lookup cost.
type Cost struct {
	// Calls is the number of calls to the store, Waves the number of parallel waves that they form.
	Calls, Waves int
	// ReadUnits is what calls to DynamoDB consumed, in read capacity units; 0 for other stores.
	ReadUnits float64
}

// Add adds the cost of a later lookup.
func (c *Cost) Add(more Cost) {
	c.Calls, c.Waves, c.ReadUnits = c.Calls+more.Calls, c.Waves+more.Waves, c.ReadUnits+more.ReadUnits
}

// Found is the answer to a lookup.
type Found struct {
	// Counts is how many comments the whole list has, by rating.
	Counts comment.Counts
	// Boundaries has one boundary for each target, in their order. For a rank beyond the end, it is
	// the end of the list, with the number of comments as its rank.
	Boundaries []Boundary
	Cost       Cost
}

// Index finds places in lists.
type Index interface {
	// Find finds targets in a list; without targets it only counts. The whole answer is of one
	// state of the index. An error of the kind Unavailable means that the index is incomplete or
	// cannot be reached, and names the cure.
	Find(ctx context.Context, list List, targets []Target) (Found, error)
}

// Entry says in which cell one comment counts.
type Entry struct {
	// Product is the comment's product, Position its place in every list.
	Product  string
	Position comment.Position
	// Cell is the comment's cell; nil if it was deleted.
	Cell *comment.Cell
	// Follows orders the entries of one comment: a later entry has the greater text. A store
	// ignores an entry that is not later than the one it has.
	Follows stream.Position
}

// Latest sorts entries by product and position, and keeps the one of each comment that is last by
// Follows.
func Latest(entries []Entry) []Entry {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), a.Position.Compare(b.Position), cmp.Compare(b.Follows, a.Follows))
	})
	return slices.CompactFunc(sorted, func(a, b Entry) bool { return a.Product == b.Product && a.Position == b.Position })
}

// LatestByProduct returns the latest entries of each product, ordered by position.
func LatestByProduct(entries []Entry) map[string][]Entry {
	products := map[string][]Entry{}
	for _, e := range Latest(entries) {
		products[e.Product] = append(products[e.Product], e)
	}
	return products
}

// Store is an index outside the table's transactions. It holds the entry of each comment that is
// last by Follows, however often and in whatever order entries come. It keeps the entry of a
// deleted comment for at least Remember, so that a late, older entry does not bring the comment
// back. A product whose comments are all gone leaves nothing else behind.
//
// All methods are safe for concurrent use, by several processes unless the store says otherwise.
// Errors of a store that is slow or cannot be reached are of the kind Unavailable or Timeout; they
// name the store without its password.
type Store interface {
	Index
	// Covers returns what the store is complete for: the text last passed to Finish, empty if the
	// store never was complete or was emptied. Find answers even if it is empty.
	Covers(ctx context.Context) (string, error)
	// Apply stores entries: all of them, or with an error perhaps some. Acknowledged entries
	// survive a crash of the process.
	Apply(ctx context.Context, entries []Entry) error
	// Build starts to build the store anew. There is one build at a time; a new one ends an earlier
	// one. Until Finish, the store answers as before, and Apply continues to work.
	Build(ctx context.Context) (Build, error)
	// Products calls a function with each product that has comments, in any order. It may repeat
	// some, and include others whose comments are all gone.
	Products(ctx context.Context, tell func(product string)) error
	// Close releases what this process holds of the store.
	Close() error
}

// Renewer is a store whose Covers can be replaced without a build.
type Renewer interface {
	// Renew replaces the text that Covers returns. The error is of the kind Conflict if that is not
	// was.
	Renew(ctx context.Context, was, covers string) error
}

// Build builds a store anew. In the end the store holds the entries that were added, and those
// applied since the build began: of each comment, the one that is last by Follows. Everything else
// is gone.
type Build interface {
	// Add stores entries, as Apply does.
	Add(ctx context.Context, entries []Entry) error
	// Finish makes the new content the store's. Covers returns the text from then on. The error is
	// of the kind Conflict if a later build has begun.
	Finish(ctx context.Context, covers string) error
}

// Remember is how long a store keeps the entry of a deleted comment. Records stay in the table's
// stream for 24 hours, and are applied within an hour after they were read.
const Remember = 72 * time.Hour

// ErrInUse says that another process has opened a store that only one process can use at a time.
var ErrInUse = errors.New("it is in use by another process; end that one, or give each process a store of its own: table, redis, postgres and s3 can be shared")
