package objects

import (
	"github.com/talkback/talkback/comment"
)

// view is a product in one state.
type view struct {
	root *Root
	// changes are those of the product. They are to be made of items and bases if ready is false.
	changes []change
	ready   bool
	items   []Item
	bases   map[comment.Position]Item
}

// change is what the chunks have of a comment, and what is right. A cell without a rating is a
// comment that is not there.
type change struct {
	position comment.Position
	was, now comment.Cell
}
