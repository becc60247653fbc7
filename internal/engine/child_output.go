package engine

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	// largestLog is the size above which a log file is emptied before another child appends to it.
	largestLog = 1 << 20
	// tailBytes and tailLines bound the quotation of a log in an error.
	tailBytes = 2 << 10
	tailLines = 5
)

// childOutput is the output of one child: the part of the log file from start on.
type childOutput struct {
	path  string
	start int64
}

// shorten empties a log file that has become large. It may be called while a child writes to the
// file: children append, so the next line goes to the new end.
func shorten(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= largestLog {
		return nil // no file yet, or StartChild will report a better error
	}
	if err := os.Truncate(path, 0); err != nil {
		return fmt.Errorf("cannot empty the log file: %w", err)
	}
	return nil
}

// tail returns the last lines of the output, joined to one.
func (o childOutput) tail() string {
	data, err := o.lastBytes()
	if err != nil {
		return "(unreadable: " + err.Error() + ")"
	}
	lines := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "(nothing was printed)"
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], " | ")
}

// lastBytes reads the end of the output. All of a file that was emptied meanwhile is the child's.
func (o childOutput) lastBytes() ([]byte, error) {
	file, err := os.Open(o.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := o.start
	if info.Size() < from {
		from = 0
	}
	from = max(from, info.Size()-tailBytes)
	return io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
}
