package layout

import (
	"time"

	"github.com/talkback/talkback/comment"
)

// AttrDeleted is N, milliseconds since 1970: when the comment was deleted.
const AttrDeleted = "e"

// AttrMark is S, a random text that each edit makes anew, and a delete.
const AttrMark = "m"

// Tombstone is the item that takes the place of a deleted comment, for ever: imports then leave the comment deleted. It
// holds the id, the time of the deletion and a mark by which a delete whose answer was lost knows its own work; nothing of
// what was written, nor by whom, nor about what. It is in no index.
func Tombstone(id comment.ID, mark string, at time.Time) Item {
	out := CommentKey(id)
	out[AttrDeleted] = Time(at)
	out[AttrMark] = Text(mark)
	return out
}

// NoComment tells whether what was read under the key of a comment is none: nothing, or a tombstone.
func NoComment(it Item) bool { return len(it) == 0 || it[AttrDeleted] != nil }
