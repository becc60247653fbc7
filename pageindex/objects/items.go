package objects

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// longestText is how long a product's id and Follows may be, in bytes. Both are far shorter.
const longestText = 1 << 10

// itemsOf returns entries as they are kept, with the time when they came. An entry that cannot be kept
// is a BadInput error.
func itemsOf(entries []pageindex.Entry, now time.Time) ([]Item, error) {
	out := make([]Item, 0, len(entries))
	for _, e := range entries {
		item := Item{Key: Key{Product: e.Product, Position: e.Position}, Follows: e.Follows, Seen: uint32(now.Unix())}
		if e.Cell != nil {
			item.Cell = *e.Cell
			if item.Cell.Code() < 1 || item.Cell.Code() > comment.MaxCellCode || len(item.Cell.Language) > 255 {
				return nil, comment.Errorf(comment.BadInput, "a comment with rating %d has no place in a page index: ratings are 1 to %d", item.Cell.Rating, comment.MaxRating)
			}
		}
		if len(e.Product) > longestText || len(e.Follows) > longestText {
			return nil, comment.Errorf(comment.BadInput, "a product's id or the position of a record is longer than %d bytes", longestText)
		}
		out = append(out, item)
	}
	return out, nil
}
