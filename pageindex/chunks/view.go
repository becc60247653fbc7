package chunks

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// view is a product in one state.
type view struct {
	root *pagefile.Root
	// changes are those of the product. They are to be made of items and bases if ready is false.
	changes []change
	ready   bool
	items   []pagefile.Item
	bases   map[comment.Position]pagefile.Item
}

// change is what the chunks have of a comment, and what is right. A cell without a rating is a
// comment that is not there.
type change struct {
	position comment.Position
	was, now comment.Cell
}
