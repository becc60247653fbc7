package reviewfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
)

// maxLine bounds a line, and a quoted CSV row of several lines, so that memory stays bounded for
// any file. A comment has at most 256 KiB, and six times that as JSON escapes.
const maxLine = 4 << 20

var byteOrderMark = []byte("\xef\xbb\xbf")

// line is one line of a file.
type line struct {
	number  int
	text    []byte // without its line end; only the beginning if tooLong
	tooLong bool
}

// lineReader cuts a file into lines. A line ends with LF or CRLF, the last one also with the file.
type lineReader struct {
	in     *bufio.Reader
	number int
	again  []line // to be read once more, the next one last
}

// newLineReader skips a byte order mark. It refuses UTF-16, and files that hold no reviews.
func newLineReader(r io.Reader) (*lineReader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(len(byteOrderMark))
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return nil, errors.New("the file is UTF-16: turn it into UTF-8, for example by iconv -f UTF-16 -t UTF-8")
	case bytes.Equal(first, byteOrderMark):
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail after Peek
	}
	if err := checkKind(in); err != nil {
		return nil, err
	}
	return &lineReader{in: in}, nil
}

// next returns the next line that is not empty, or io.EOF.
func (l *lineReader) next() (line, error) {
	for {
		next, err := l.any()
		if err != nil || len(next.text) > 0 {
			return next, err
		}
	}
}

// any returns the next line, empty or not, or io.EOF. The caller may keep its text.
func (l *lineReader) any() (line, error) {
	if n := len(l.again); n > 0 {
		next := l.again[n-1]
		l.again = l.again[:n-1]
		return next, nil
	}
	l.number++
	next := line{number: l.number}
	for {
		piece, err := l.in.ReadSlice('\n')
		room := maxLine + len("\r\n") - len(next.text)
		next.tooLong = next.tooLong || len(piece) > room
		next.text = append(next.text, piece[:min(len(piece), max(room, 0))]...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(next.text) == 0:
			return line{}, io.EOF
		case err != nil && err != io.EOF:
			return line{}, fmt.Errorf("the file cannot be read beyond line %d: %w", l.number, err)
		}
		next.text = bytes.TrimSuffix(bytes.TrimSuffix(next.text, []byte("\n")), []byte("\r"))
		next.tooLong = next.tooLong || len(next.text) > maxLine
		return next, nil
	}
}

// unread puts lines back. They must be the last ones read, in the order of the file.
func (l *lineReader) unread(lines []line) {
	for i := len(lines) - 1; i >= 0; i-- {
		l.again = append(l.again, lines[i])
	}
}

// check refuses lines that no format can read.
func (l line) check() error {
	if reason := l.fault(); reason != "" {
		return l.bad(reason)
	}
	return nil
}

// fault returns why no format can read the line, empty if it can be read.
func (l line) fault() string {
	switch {
	case l.tooLong:
		return fmt.Sprintf("the line is longer than %d MiB", maxLine>>20)
	case !utf8.Valid(l.text):
		return "the line is not valid UTF-8; what Excel calls CSV may be turned into it by iconv -f WINDOWS-1252 -t UTF-8"
	}
	return ""
}

func (l line) bad(reason string) *RowError {
	return &RowError{Line: l.number, Reason: reason, Raw: cut(l.text)}
}

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
