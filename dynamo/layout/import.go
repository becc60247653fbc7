package layout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// AttrImport holds the ImportMark of an imported comment: S. A comment that was written here has
// none. A tombstone from an undone import keeps it.
const AttrImport = "w"

// ImportMark says which import added a comment, and in which state imports left the comment.
type ImportMark struct {
	// Import is the number of the import that added the comment.
	Import int64
	// as is that state: the version of the comment, that of its reply, and its status.
	as string
}

// MarkOf returns the mark that an import writes for a comment.
func MarkOf(number int64, c comment.Comment) ImportMark {
	reply := c.ReplyDeletion
	if c.Reply != nil {
		reply = c.Reply.Version
	}
	return ImportMark{number, fmt.Sprintf("%d:%d:%s", c.NextVersion()-1, reply, stateText(c))}
}

// ImportMarkOf reads the mark of an item; false if it has none.
func ImportMarkOf(it Item) (m ImportMark, ok bool) {
	digits, as, found := strings.Cut(NewReader(it).OptionalText(AttrImport), ":")
	number, err := strconv.ParseInt(digits, 10, 64)
	return ImportMark{number, as}, found && err == nil
}

// String returns the mark as stored in AttrImport, such as "7:1:0:".
func (m ImportMark) String() string { return MarkPrefix(m.Import) + m.as }

// Unchanged reports whether nobody has edited, decided about or replied to the comment since the
// import. Votes and reports are no change.
func (m ImportMark) Unchanged(c comment.Comment) bool { return m == MarkOf(m.Import, c) }

// MarkPrefix begins the marks of all comments that an import added.
func MarkPrefix(number int64) string { return strconv.FormatInt(number, 10) + ":" }
