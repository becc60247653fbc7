package reviewfile

import (
	"fmt"

	"github.com/talkback/talkback/comment"
)

// Row is a comment as a file tells it.
type Row struct {
	// Line is where the row begins, 1 for the first line of the file.
	Line int
	// Comment passes comment.Comment.Check. Its version is 1 unless the row is one that Append wrote.
	Comment comment.Comment
}

// RowError is a row that cannot become a comment.
type RowError struct {
	// Line is where the row begins, 1 for the first line of the file.
	Line int
	// Reason says what is wrong, in words that show nothing of the review's text.
	Reason string
	// Raw is the row as it stands in the file, cut after 16 KiB; its bytes may be no valid UTF-8. It does hold text.
	Raw string
}

// Error is the line and the reason.
func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// maxRaw bounds RowError.Raw.
const maxRaw = 16 << 10

func cut(raw []byte) string { return string(raw[:min(len(raw), maxRaw)]) }

// record is one row of a file as columns and values. An empty value is one that is not there.
type record struct {
	line    int
	raw     []byte
	columns []string
	values  []string
	nested  []bool // which values are objects or lists, nil for none
	// exported is the whole object if Talkback wrote it, else nil.
	exported map[string]any
}

// records reads the rows of one format. next returns io.EOF at the end, a *RowError for a row that is none, after which
// it can be called again, and any other error when the file cannot be read further.
type records interface {
	next() (record, error)
}
