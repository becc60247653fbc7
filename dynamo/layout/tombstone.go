package layout

import (
	"time"

	"github.com/talkback/talkback/comment"
)

// AttrDeleted is when the comment was deleted: N, milliseconds since 1970.
const AttrDeleted = "e"

// AttrMark is a random text that identifies one edit or delete: S. A retry recognizes by it that an
// earlier try succeeded.
const AttrMark = "m"

// Tombstone returns the item that replaces a deleted comment for ever, so that imports do not
// restore the comment. It holds the ID, the time of the deletion, and the mark by which a delete
// whose answer was lost recognizes its own write. It holds nothing of the comment's content, author
// or product, and is in no index.
func Tombstone(id comment.ID, mark string, at time.Time) Item {
	out := CommentKey(id)
	out[AttrDeleted] = Time(at)
	out[AttrMark] = Text(mark)
	return out
}

// NoComment reports whether an item read under a comment's key is no comment: there is no item, or
// a tombstone.
func NoComment(it Item) bool { return len(it) == 0 || it[AttrDeleted] != nil }
