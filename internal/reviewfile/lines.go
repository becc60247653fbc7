package reviewfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
)

// maxLine bounds a line, and a quoted CSV row of several lines, so that memory is bounded for any
// file. A comment has at most 256 KiB, and six times that with JSON escapes.
const maxLine = 4 << 20

// Bounds on input without rows. A small compressed file can contain any number of line ends, or a
// line of any length, which would take minutes to read.
const (
	maxBlank   = 4 << 20  // bytes of consecutive blank lines
	maxSkipped = 64 << 20 // bytes of a line that is too long
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// line is one line of a file.
type line struct {
	number  int
	text    []byte // without its line end; only the beginning if tooLong
	tooLong bool
}

// lineReader splits a file into lines. A line ends with LF, CRLF or the end of the file.
type lineReader struct {
	in     *bufio.Reader
	number int
	again  []line // unread lines, the next one last
	blank  int    // bytes of the blank lines read last
}

// newLineReader skips a byte order mark, or two: some programs add one to a file that has one
// already. It rejects UTF-16, UTF-32, and files that contain no reviews.
func newLineReader(r io.Reader) (*lineReader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(2 * len(byteOrderMark))
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, wide := range []struct{ mark, name string }{ // the longer marks first
		{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
	} {
		if bytes.HasPrefix(first, []byte(wide.mark)) {
			return nil, fmt.Errorf("the file is %s: turn it into UTF-8, for example by iconv -f %[1]s -t UTF-8", wide.name)
		}
	}
	for bytes.HasPrefix(first, byteOrderMark) {
		first = first[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail after Peek
	}
	if err := checkKind(in); err != nil {
		return nil, err
	}
	return &lineReader{in: in}, nil
}

// next returns the next line that has values, io.EOF, or a *RowError for an unreadable line.
func (l *lineReader) next() (line, error) {
	for {
		next, err := l.any()
		if err != nil {
			return next, err
		}
		if reason := next.fault(); reason != "" {
			return next, next.bad(reason)
		}
		if !next.isBlank() {
			return next, nil
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
	next, length := line{number: l.number}, 0
	for {
		piece, err := l.in.ReadSlice('\n')
		if length += len(piece); length > maxSkipped {
			return line{}, fmt.Errorf("line %d does not end within %d MiB: the file is damaged, or holds no reviews", l.number, maxSkipped>>20)
		}
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
		l.blank += length
		if !next.isBlank() {
			l.blank = 0
		}
		if l.blank > maxBlank {
			return next, fmt.Errorf("up to line %d, more than %d MiB are blank: the file is damaged, or holds no reviews", next.number, maxBlank>>20)
		}
		return next, nil
	}
}

// unread puts lines back. They must be the last lines read, in the order of the file.
func (l *lineReader) unread(lines []line) {
	for i := len(lines) - 1; i >= 0; i-- {
		l.again = append(l.again, lines[i])
	}
}

// isBlank reports whether a line has no values: spreadsheets write ;;; for an empty row.
func (l line) isBlank() bool {
	return bytes.IndexFunc(l.text, func(r rune) bool { return r != ',' && r != ';' && !unicode.IsSpace(r) }) < 0
}

// fault returns why no format can read the line, empty if it is readable.
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
	// Line is the number of the row's first line, from 1.
	Line int
	// Comment passes Comment.Check. Its version is 1 unless Append wrote the row.
	Comment comment.Comment
}

// RowError is a row that cannot become a comment.
type RowError struct {
	// Line is the number of the row's first line, from 1.
	Line int
	// Reason says what is wrong. It contains nothing of the review's text.
	Reason string
	// Raw is the row as in the file, with its text: 16 KiB at most, perhaps invalid UTF-8.
	Raw string
}

// Error returns the line and the reason.
func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

const maxRaw = 16 << 10

func cut(raw []byte) string { return string(raw[:min(len(raw), maxRaw)]) }

// record is one row of a file as columns and values. An empty value counts as missing.
type record struct {
	line    int
	raw     []byte
	columns []string
	values  []string
	nested  []bool // which values are objects or lists, nil for none
	// exported is the whole object if Talkback wrote the row, otherwise nil.
	exported map[string]any
}

// records reads the rows of one format. next returns io.EOF at the end. A *RowError is a bad row,
// and next can be called again. After any other error the file cannot be read further.
type records interface {
	next() (record, error)
}

// How many bytes are read to recognize a file: enough for names in a workbook, and for any header.
const (
	kindBytes   = 4 << 10
	formatBytes = 32 << 10
)

// kinds are files that are mistaken for files of reviews: their first bytes, what they are, and
// what to do instead.
var kinds = []struct{ first, what, cure string }{
	{"\xd0\xcf\x11\xe0", "an old Excel workbook", saveAsCSV},
	{"PK\x03\x04", "a ZIP archive", "unpack it and import the file inside"},
	{"\x1f\x8b", "compressed twice by gzip", "unpack it once"},
	{"BZh", "compressed by bzip2", "pipe it: bzip2 -dc FILE | talkback import -"},
	{"\xfd7zXZ\x00", "compressed by xz", "pipe it: xz -dc FILE | talkback import -"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", "pipe it: zstd -dc FILE | talkback import -"},
	{"PAR1", "a Parquet file", "write it as CSV or JSON Lines with the tool that made it"},
	{"SQLite format 3\x00", "a SQLite database", "write the table of reviews as CSV: sqlite3 -header -csv FILE 'select * from reviews' > reviews.csv"},
	{"%PDF-", "a PDF document", "ask the sender for the data as CSV"},
	{"<!doctype html", "a web page, perhaps one to log in at", "download the file itself"},
	{"<html", "a web page, perhaps one to log in at", "download the file itself"},
	{"--", "a dump of a database", "write the table of reviews as CSV with a client of the database"},
	{"<?xml", "XML", "turn it into CSV or JSON Lines"},
}

const saveAsCSV = "in Excel, save it as CSV UTF-8, and import that"

// The first names in the archives of an Excel workbook and a LibreOffice spreadsheet.
var (
	workbookParts = []string{"[Content_Types].xml", "xl/"}
	sheetPart     = "mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
)

// checkKind returns an error for a file of a kind that cannot contain reviews.
func checkKind(in *bufio.Reader) error {
	head, _ := in.Peek(kindBytes) // a later read meets the same error, after the rows before it
	has := func(name string) bool { return bytes.Contains(head, []byte(name)) }
	for _, kind := range kinds {
		if len(head) < len(kind.first) || !strings.EqualFold(string(head[:len(kind.first)]), kind.first) {
			continue
		}
		if kind.first == "PK\x03\x04" && slices.ContainsFunc(workbookParts, has) {
			return fmt.Errorf("the file is an Excel workbook: %s", saveAsCSV)
		}
		if kind.first == "PK\x03\x04" && has(sheetPart) {
			return errors.New("the file is a LibreOffice spreadsheet: save it as Text CSV in UTF-8, and import that")
		}
		return fmt.Errorf("the file is %s: %s", kind.what, kind.cure)
	}
	const tarMark, tarAt = "ustar", 257
	switch {
	case len(head) > tarAt+len(tarMark) && string(head[tarAt:tarAt+len(tarMark)]) == tarMark:
		return errors.New("the file is a tar archive: unpack it and import the file inside")
	case bytes.IndexByte(head, 0) >= 0:
		return errors.New(`the file has bytes of zero: UTF-16 becomes UTF-8 by iconv -f UTF-16LE -t UTF-8, other text loses them by tr -d '\000'`)
	case bytes.IndexByte(head, '\n') < 0 && bytes.Contains(bytes.TrimRight(head, "\r"), []byte("\r")):
		return errors.New("the lines of the file end in CR alone: pipe it: tr '\\r' '\\n' < FILE | talkback import -")
	}
	return nil
}

// sniff returns the format by the first line. An empty file counts as CSV without rows.
func sniff(in *bufio.Reader) (Format, error) {
	head, _ := in.Peek(formatBytes) // a later read meets the same error
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	switch separator := separatorOf(first); {
	case len(first) == 0:
		return CSV, nil
	case beginsWith(head, "{["):
		return JSONLines, nil
	case separator == '\t':
		return TSV, nil
	case separator != 0:
		return CSV, nil
	}
	return "", errors.New("the format of the file cannot be told from its beginning: give --format tsv, csv or jsonl")
}

// beginsWith reports whether a text begins with one of some characters, after any white space.
func beginsWith(text []byte, characters string) bool {
	return bytes.IndexAny(bytes.TrimSpace(text), characters) == 0
}

// separatorOf returns the most frequent of tab, comma and semicolon in a header; 0 without any.
func separatorOf(header []byte) (separator rune) {
	counts := map[rune]int{}
	quoted := false
	for _, r := range string(header) {
		switch {
		case r == '"':
			quoted = !quoted
		case !quoted:
			counts[r]++
		}
	}
	for _, r := range []rune{'\t', ',', ';'} {
		if counts[r] > counts[separator] {
			separator = r
		}
	}
	return separator
}
