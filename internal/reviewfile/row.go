package reviewfile

import (
	"fmt"

	"github.com/talkback/talkback/comment"
)

// Row is a comment read from a file.
type Row struct {
	// Line is where the row begins, 1 for the first line of the file.
	Line int
	// Comment passes Comment.Check. Its version is 1 unless Append wrote the row.
	Comment comment.Comment
}

// RowError is a row that cannot become a comment.
type RowError struct {
	// Line is where the row begins, 1 for the first line of the file.
	Line int
	// Reason says what is wrong. It holds nothing of the review's text.
	Reason string
	// Raw is the row as it stands in the file, truncated after 16 KiB. It may be invalid UTF-8. It
	// holds the review's text.
	Raw string
}

// Error returns the line and the reason.
func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// maxRaw bounds RowError.Raw.
const maxRaw = 16 << 10

func cut(raw []byte) string { return string(raw[:min(len(raw), maxRaw)]) }

// record is one row of a file as columns and values. An empty value counts as missing.
type record struct {
	line    int
	raw     []byte
	columns []string
	values  []string
	nested  []bool // which values are objects or lists, nil for none
	// exported is the whole object if Talkback wrote the row, else nil.
	exported map[string]any
}

// records reads the rows of one format. next returns io.EOF at the end. After a *RowError, which is
// a bad row, it can be called again. After any other error the file cannot be read further.
type records interface {
	next() (record, error)
}
