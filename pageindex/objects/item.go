package objects

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// errDamaged is a file whose bytes are not those that were written.
var errDamaged = errors.New("a file of the page index is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// Key is the place of a comment among those of all products, which are sorted by id.
type Key struct {
	Product  string
	Position comment.Position
}

// Compare returns a negative number if k comes before other, a positive one if it comes after, and 0
// if they are equal.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Product, other.Product), k.Position.Compare(other.Position))
}

// Item says as what one comment is counted.
type Item struct {
	Key
	// Cell is its language and rating. A comment that is not there any more has rating 0.
	Cell comment.Cell
	// Follows is the entry that said so. It is empty once no older entry can come.
	Follows stream.Position
	// Seen is when the entry came, in seconds since 1970.
	Seen uint32
}

// There reports whether the comment is there.
func (i Item) There() bool { return i.Cell.Code() != 0 }

// Guarded reports whether an older entry may still come.
func (i Item) Guarded() bool { return i.Follows != "" }
