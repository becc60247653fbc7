// Package reviewfile reads files of reviews into comments: tab-separated values as Amazon publishes them, comma-separated
// values, and JSON Lines, plain or compressed by gzip. It also writes the lines by which Talkback hands out its own
// comments, and reads those back as they were.
//
// The way of a row: open.go opens the file and looks through gzip, lines.go cuts it into lines of bounded length, kinds.go refuses what holds no reviews and knows formats by their beginning, tsv.go,
// csv.go and jsonl.go make records of them, columns.go knows which column holds which field, and convert.go makes a
// comment of a record, or exported.go, when Talkback wrote it. A row that cannot become a comment says why and where, and reading goes on after it.
package reviewfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Format is how a file is written.
type Format string

// The formats.
const (
	// TSV is tab-separated values below a header. Quotes mean nothing.
	TSV Format = "tsv"
	// CSV is comma-separated values below a header, quoted as in RFC 4180. If the header has semicolons instead, as Excel
	// writes where the comma is in decimal numbers, these separate the values.
	CSV Format = "csv"
	// JSONLines is one JSON object on each line.
	JSONLines Format = "jsonl"
)

// FormatOf is the format that the name of a file tells, with or without .gz at its end; empty when it tells none.
func FormatOf(name string) Format {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "tsv", "tab":
		return TSV
	case "csv":
		return CSV
	case "jsonl", "ndjson", "json":
		return JSONLines
	}
	return ""
}

// Options say how to understand a file.
type Options struct {
	// Format is told by the beginning of the file if it is empty.
	Format Format
	// Columns gives the column of a field. It wins over the names that are known anyway; an empty column means that the
	// file does not have the field, whatever its columns are called.
	Columns map[Field]string
	// Language, unless empty, is the language of all rows. Beside LanguageOf, or a column given for the language, it is
	// that of the rows whose column tells none.
	Language comment.Language
	// LanguageOf turns values of the language's column into languages. Case does not matter, so no two keys may differ in
	// case alone.
	LanguageOf map[string]comment.Language
	// Customers says that the ids of authors in the file are the shop's own of its customers. Else authors are imported ones,
	// and in any case those of whom the file tells no id are.
	Customers bool
}

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

// maxAhead is how many rows are read ahead to learn the columns of a file without a header.
const maxAhead = 100

// aheadBytes ends the reading ahead early when the rows are long.
const aheadBytes = 1 << 20

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

// Reader reads comments from a file.
type Reader struct {
	records records
	options Options
	layout  layout
	dates   dateParser

	languageOf     map[string]comment.Language // with keys in lower case
	headlineIsText bool                        // the file has headlines and no texts
	ahead          []pending                   // rows that NewReader has read
}

// pending is a row that was read ahead.
type pending struct {
	record record
	err    error
}

// NewReader starts to read. A file in which a needed field has no column is refused with a sentence that names the cure
// and the columns there are; an empty one is not.
func NewReader(r io.Reader, options Options) (*Reader, error) {
	lines, err := newLineReader(r)
	if err != nil {
		return nil, err
	}
	if options.Format == "" {
		if options.Format, err = sniff(lines.in); err != nil {
			return nil, err
		}
	}
	reader := &Reader{options: options, languageOf: foldKeys(options.LanguageOf)}
	columns, err := reader.start(lines)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 { // no row to complain about
		return reader, nil
	}
	if err := reader.checkExport(); err != nil {
		return nil, err
	}
	h := headerOf(columns)
	if err := h.check(options); err != nil {
		return nil, err
	}
	reader.headlineIsText = h.headlineIsText(options)
	return reader, nil
}

// start chooses how to make records of lines, and learns the columns of the file.
func (r *Reader) start(lines *lineReader) (columns []string, err error) {
	switch r.options.Format {
	case TSV:
		rows, err := newTSVRecords(lines)
		r.records = rows
		return rows.header, err
	case CSV:
		rows, err := newCSVRecords(lines)
		r.records = rows
		return rows.header, err
	case JSONLines:
		r.records, err = newJSONRecords(lines)
		if err != nil {
			return nil, err
		}
		return r.readAhead(), nil
	}
	return nil, errors.New("the format of the file is unknown: give one of tsv, csv, jsonl")
}

// readAhead collects the columns of the first rows of a file without a header.
func (r *Reader) readAhead() []string {
	var columns []string
	seen := map[string]bool{}
	for bytes := 0; len(r.ahead) < maxAhead && bytes < aheadBytes; {
		rec, err := r.records.next()
		r.ahead = append(r.ahead, pending{rec, err})
		if err != nil && !isRowError(err) {
			break
		}
		bytes += len(rec.raw)
		for _, column := range rec.columns {
			if !seen[column] {
				seen[column] = true
				columns = append(columns, column)
			}
		}
	}
	return columns
}

// Next returns the next row; io.EOF after the last; a *RowError for one that is bad, after which reading goes on; and any
// other error when the file cannot be read further.
func (r *Reader) Next() (Row, error) {
	rec, err := r.next()
	if err != nil {
		return Row{}, err
	}
	convert := r.convert
	if rec.isExported() {
		convert = r.restore
	}
	c, err := convert(rec)
	if err != nil {
		return Row{}, &RowError{Line: rec.line, Reason: err.Error(), Raw: cut(rec.raw)}
	}
	return Row{Line: rec.line, Comment: c}, nil
}

func (r *Reader) next() (record, error) {
	if len(r.ahead) == 0 {
		return r.records.next()
	}
	first := r.ahead[0]
	r.ahead = r.ahead[1:]
	if len(r.ahead) == 0 && first.err != nil && !isRowError(first.err) {
		r.ahead = []pending{first} // the end stays the end
	}
	return first.record, first.err
}

func isRowError(err error) bool {
	var bad *RowError
	return errors.As(err, &bad)
}

func cut(raw []byte) string { return string(raw[:min(len(raw), maxRaw)]) }
