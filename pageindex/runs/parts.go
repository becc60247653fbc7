// Package runs counts the comments of a product in runs of positions, so that a rank is found
// without reading comments. It makes no calls: it decides what to store, and interprets what was
// stored.
//
// A [Run] is a range of positions with 64 comments or so, and their number by language and rating.
// A comment's position determines its run. Four parts cover all comments:
//
//   - The [Head] counts the newest ones. It is part of the product's statistics. When it holds 64,
//     they become a run.
//   - The log has the changes below the head: each [Entry] holds some, and perhaps a new run.
//   - The directory and its chunks hold the runs. A merge applies the log to them now and then.
//
// The statistics, the comments' markers and one log entry change in one transaction. So the
// following always holds:
//
//  1. The head's counts are the sum of the markers at or above its bound.
//  2. A run's counts, with the unmerged entries, are the sum of its markers.
//  3. All entries from the first unmerged one to the head's last exist.
package runs

import (
	"fmt"

	"github.com/talkback/talkback/comment"
)

// Change is a change of the cell in which one comment counts.
type Change struct {
	Position comment.Position
	// From and To are the cell before and after, nil if the comment does not count.
	From, To *comment.Cell
}

// Run is a range of positions, with the number of comments there.
type Run struct {
	// From and End are its bounds. A position p is in the run if From <= p < End.
	From, End comment.Position
	// Counts is the number of comments by language and rating. Every language has a row of its own.
	Counts comment.Stats
}

// Entry is an entry of a product's log. The transaction that changes the comments writes it.
type Entry struct {
	// Number counts consecutively.
	Number uint64
	// Changes are the changes below the head, sorted by position. Each comment occurs once.
	Changes []Change
	// Sealed is the head's former content, which became a run; nil for none. No change is in it.
	Sealed *Run
}

// Head counts the newest comments of a product, and has the range of its log. The zero Head means
// that the product has no index. A Head is a value: its Counts never change.
type Head struct {
	// Bound is the lowest position of the head. Comments below it are in runs.
	Bound comment.Position
	// Highest is a position that no comment exceeds.
	Highest comment.Position
	// Counts is the number of comments at or above Bound. Every language has a row of its own.
	Counts comment.Stats
	// First is the number before that of the first entry. Everything stored with numbers up to it
	// belongs to an earlier index of the product, and is void.
	First uint64
	// Last is the number of the last entry, First if there is none.
	Last uint64
	// Written is the size of all entries in bytes.
	Written uint64
}

// Exists reports whether the product has an index.
func (h Head) Exists() bool { return h.First != 0 }

// Key identifies a chunk. A key is never used twice, so a chunk never changes.
type Key struct {
	// Version is the version of the directory for which a merge made the chunk.
	Version uint64
	// Number is random, since concurrent merges may make the same version, one of which succeeds.
	Number uint32
}

// String returns the key as text. Keys sort by version.
func (k Key) String() string { return fmt.Sprintf("%016x-%08x", k.Version, k.Number) }

// ParseKey parses what String returned.
func ParseKey(text string) (key Key, ok bool) {
	n, err := fmt.Sscanf(text, "%016x-%08x", &key.Version, &key.Number)
	return key, n == 2 && err == nil
}

// Chunk is an item with adjacent runs, in ascending order.
type Chunk struct{ Runs []Run }

// Reference is the directory's entry for a chunk.
type Reference struct {
	// Key is the chunk's key.
	Key Key
	// Run has the chunk's bounds, and the sum of its runs' counts. With very many languages, some
	// share the row comment.OtherLanguages, in all references.
	Run
	Bytes int // the size of the chunk
}

// Directory lists the runs of a product. The zero Directory means that the product never had one.
type Directory struct {
	// Version rises with each merge. The first directory has the head's First, so that no version
	// is reused after all comments of a product were deleted.
	Version uint64
	// Merged is the number of the last entry that the runs include.
	Merged uint64
	// References are the chunks, in ascending order and without gaps. There are none if all runs
	// are in Inline.
	References []Reference
	// Inline are the runs of a small product.
	Inline []Run
	// Replaced are the chunks that the previous directory referred to, and this one does not.
	// Readers of the previous directory may still read them until the next merge.
	Replaced []Key
}
