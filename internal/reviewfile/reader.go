package reviewfile

import (
	"errors"
	"io"
	"slices"
)

// maxAhead is how many rows are read ahead to learn the columns of a file without a header.
const maxAhead = 100

// aheadBytes ends the reading ahead early when the rows are long.
const aheadBytes = 1 << 20

// Reader reads comments from a file.
type Reader struct {
	records records
	options Options
	convert converter
	restore restorer
	ahead   []pending // rows that NewReader has read
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
	reader := &Reader{options: options, convert: newConverter(options)}
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
	reader.convert.headlineIsText = h.headlineIsText(options)
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
	convert := r.convert.comment
	if rec.isExported() {
		convert = r.restore.comment
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

// errTellsAll is for flags that would say what the file says itself.
var errTellsAll = errors.New("the file was written by talkback export and tells all by itself: leave out --map, --language, --language-of and --authors-are-customers")

// checkExport refuses options that rows which Talkback wrote have no use for.
func (r *Reader) checkExport() error {
	needless := len(r.options.Columns) > 0 || r.options.Language != "" || len(r.options.LanguageOf) > 0 || r.options.Customers
	if needless && slices.ContainsFunc(r.ahead, func(p pending) bool { return p.record.isExported() }) {
		return errTellsAll
	}
	return nil
}
