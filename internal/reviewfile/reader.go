// Package reviewfile reads files of reviews into comments: tab-separated values as Amazon publishes
// them, comma-separated values, and JSON Lines, plain or compressed by gzip. It also writes
// comments as the lines of Talkback's own export, and reads these back unchanged.
//
// A row passes through these files. open.go opens the file and decompresses gzip. lines.go rejects
// files that contain no reviews, recognizes formats by the first line, and splits the file into
// lines of bounded length. csv.go and jsonl.go convert lines to records. columns.go finds the
// column of each field. convert.go converts a record to a comment, or exported.go does if Talkback
// wrote the row. A row that cannot become a comment is a RowError, which says where and why;
// reading continues after it.
package reviewfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// maxAhead is how many rows are read ahead to find the columns of a file without a header.
const maxAhead = 100

// aheadBytes bounds the bytes read ahead, for files with long rows.
const aheadBytes = 1 << 20

// Reader reads comments from a file.
type Reader struct {
	records records
	options Options
	convert converter
	restore restorer
	ahead   []pending // rows that NewReader has read
	mapping Mapping
}

// pending is a row that was read ahead.
type pending struct {
	record record
	err    error
}

// NewReader returns a Reader of a file. If a required field has no column, the error names the cure
// and the existing columns. It accepts an empty file.
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
	reader := &Reader{options: options, convert: converter{options: options, languageOf: map[string]comment.Language{}, dates: dateParser{zone: options.Zone}}, restore: restorer{whole: options.Whole}}
	for value, language := range options.LanguageOf {
		reader.convert.languageOf[strings.ToLower(value)] = language
	}
	columns, err := reader.start(lines)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 { // there are no rows
		return reader, nil
	}
	if options.Restore {
		if options.Whole && slices.ContainsFunc(reader.ahead, func(p pending) bool { return isPartial(p.record) }) {
			return nil, errPartial
		}
		return reader, nil
	}
	if slices.ContainsFunc(reader.ahead, func(p pending) bool { return p.record.exported != nil }) {
		return nil, errExported
	}
	h := headerOf(columns)
	if err := h.check(options); err != nil {
		return nil, err
	}
	reader.convert.headlineIsText = h.headlineIsText(options)
	reader.mapping = h.mapping(options, reader.convert.headlineIsText)
	return reader, nil
}

// start selects the records for the format, and returns the columns of the file.
func (r *Reader) start(lines *lineReader) (columns []string, err error) {
	switch r.options.Format {
	case TSV, CSV:
		rows, err := newTableRecords(lines, r.options.Format)
		r.records = rows
		return rows.header, err
	case JSONLines:
		head, _ := lines.in.Peek(kindBytes) // a later read meets the same error
		if beginsWith(head, "[") {          // all lines would be bad
			return nil, errors.New("the file is one JSON list: write one object on each line, for example by jq -c '.[]'")
		}
		r.records = &jsonRecords{lines}
		// A file without a header has the columns of its first rows.
		seen := map[string]bool{}
		for bytes := 0; len(r.ahead) < maxAhead && bytes < aheadBytes; {
			rec, err := r.records.next()
			r.ahead = append(r.ahead, pending{rec, err})
			if err != nil && !errors.As(err, new(*RowError)) {
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
		return columns, nil
	}
	return nil, errors.New("the format of the file is unknown: give one of tsv, csv, jsonl")
}

// Mapping returns the columns of the fields; nothing for an empty file or Talkback's own export.
func (r *Reader) Mapping() Mapping { return r.mapping }

// Next returns the next row, or io.EOF after the last. A *RowError is a bad row, after which
// reading goes on. After any other error the file cannot be read further.
func (r *Reader) Next() (Row, error) {
	var rec record
	var err error
	if len(r.ahead) == 0 {
		rec, err = r.records.next()
	} else {
		first := r.ahead[0]
		r.ahead = r.ahead[1:]
		if len(r.ahead) == 0 && first.err != nil && !errors.As(first.err, new(*RowError)) {
			r.ahead = []pending{first} // later calls return the same error
		}
		rec, err = first.record, first.err
	}
	if err != nil {
		return Row{}, err
	}
	convert := r.convert.comment
	if r.options.Restore {
		convert = r.restore.comment
	}
	c, err := convert(rec)
	if EndsReading(err) {
		return Row{}, fmt.Errorf("line %d: %w", rec.line, err)
	}
	if err != nil {
		return Row{}, &RowError{Line: rec.line, Reason: err.Error(), Raw: cut(rec.raw)}
	}
	return Row{Line: rec.line, Comment: c}, nil
}
