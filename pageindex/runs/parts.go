package runs

import "github.com/talkback/talkback/comment"

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
