// Package runs counts the comments of a product in stretches, so that the place of a rank is found
// without reading comments. It makes no calls: it decides what to store, and what stored parts say.
//
// A [Run] is a stretch of positions of 64 comments or so, with their number by language and rating.
// Which run a comment belongs to follows from its position. Four parts tell about all comments:
//
//   - The [Head] counts the newest ones. It is part of the product's statistics. When it holds 64,
//     they become a run.
//   - The log says what happened below the head: each [Entry] holds changes, and perhaps a new run.
//   - The directory and its chunks hold the runs. A merge brings the log into them now and then.
//
// The statistics, the markers of the comments and one entry of the log change in one transaction.
// So at every moment:
//
//  1. The head's counts are the sum of the markers at or above its bound.
//  2. A run's counts, with the entries that were not merged, are the sum of its markers.
//  3. The entries from the first that was not merged to the head's last all exist.
package runs

import (
	"fmt"

	"github.com/talkback/talkback/comment"
)

// Change is a change of how one comment is counted.
type Change struct {
	// Position is the place of the comment.
	Position comment.Position
	// From and To are as what it was and is counted, nil for not at all.
	From, To *comment.Cell
}

// Run is a stretch of positions, with the number of comments there.
type Run struct {
	// From and End are its bounds. A position p is in the run if From <= p < End.
	From, End comment.Position
	// Counts is the number of comments by language and rating. Every language has a row of its own.
	Counts comment.Stats
}

// Entry is one entry of a product's log. It is written in the transaction of the changes.
type Entry struct {
	// Number is that of the entry. Each entry has the number after that of the entry before.
	Number uint64
	// Changes are the changes below the head, sorted by position. Each comment occurs once.
	Changes []Change
	// Sealed is the run that was the head until then, nil for none. No change is in it.
	Sealed *Run
}

// Head counts the newest comments of a product, and says how far its log goes. The zero Head is
// that of a product without an index. A Head is a value: nothing changes its Counts.
type Head struct {
	// Bound is the lowest position of the head. Comments below it are in runs.
	Bound comment.Position
	// Highest is a position at or above all comments.
	Highest comment.Position
	// Counts is the number of comments at or above Bound. Every language has a row of its own.
	Counts comment.Stats
	// First is the number before that of the first entry. What was stored up to that number belongs
	// to an earlier index of the product, and is void.
	First uint64
	// Last is the number of the last entry, First if there is none.
	Last uint64
	// Written is the size of all entries in bytes.
	Written uint64
}

// Exists reports whether the product has an index.
func (h Head) Exists() bool { return h.First != 0 }

// Key names a chunk. A key is never used twice, so a chunk never changes.
type Key struct {
	// Version is that of the directory for which a merge made the chunk.
	Version uint64
	// Number is random, since several merges may make the same version, and one of them succeeds.
	Number uint32
}

// String returns the key as text. Keys sort by version.
func (k Key) String() string { return fmt.Sprintf("%016x-%08x", k.Version, k.Number) }

// ParseKey reads what String returned.
func ParseKey(text string) (key Key, ok bool) {
	n, err := fmt.Sscanf(text, "%016x-%08x", &key.Version, &key.Number)
	return key, n == 2 && err == nil
}

// Chunk is an item with adjacent runs, in ascending order.
type Chunk struct{ Runs []Run }

// Reference is what the directory knows of a chunk.
type Reference struct {
	// Key is where the chunk is.
	Key Key
	// From and End are its bounds, like those of a run.
	From, End comment.Position
	// Counts is the sum of its runs. If there are very many languages, some share the row
	// comment.OtherLanguages, in all references.
	Counts comment.Stats
	// Bytes is the size of the chunk.
	Bytes int
}

// Directory says where the runs are. The zero Directory is that of a product which never had one.
type Directory struct {
	// Version rises with each merge. That of the first directory is the head's First, so that no
	// version comes back after all comments of a product were deleted.
	Version uint64
	// Merged is the number of the last entry that the runs include.
	Merged uint64
	// References are the chunks, in ascending order and without gaps. There are none if all runs
	// are in Inline.
	References []Reference
	// Inline are the runs of a small product.
	Inline []Run
	// Replaced are the chunks that the directory before named, and this one does not. Readers of
	// that directory may still read them until the next merge.
	Replaced []Key
}
