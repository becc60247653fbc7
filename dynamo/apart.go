package dynamo

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

// apart is the newest comment with one of some ratings, which is not among the newest of all.
type apart struct {
	ratings  uint8 // the bit of each
	position comment.Position
	among    int // of how many it is none
}

// apartKept is for how many sets of ratings of a product this is remembered.
const apartKept = 4

// aparts are such comments of one product. They are not changed once they are made.
type aparts []apart

// with returns the comments and one more, in the place of an earlier one with the same ratings.
func (all aparts) with(one apart) aparts {
	others := slices.DeleteFunc(slices.Clone(all), func(old apart) bool { return old.ratings == one.ratings })
	return append(others[max(0, len(others)-apartKept+1):], one)
}

// has tells whether the comment at a position, the newest with one of some ratings, is known to be
// none of so many of the newest of all.
func (all aparts) has(ratings uint8, position comment.Position, among int) bool {
	return slices.ContainsFunc(all, func(a apart) bool {
		return a.ratings == ratings && a.position == position && a.among >= among
	})
}
