package reviewfile

import (
	"fmt"
	"io"
	"strings"
)

// tsvRecords reads tab-separated values. Quotes are part of the text. encoding/csv with tabs would
// interpret them.
type tsvRecords struct {
	lines  *lineReader
	header []string
}

// newTSVRecords reads the header. An empty file has none.
func newTSVRecords(lines *lineReader) (*tsvRecords, error) {
	first, err := lines.next()
	if err == nil {
		err = first.check()
	}
	switch {
	case err == io.EOF:
		return &tsvRecords{lines: lines}, nil
	case err != nil:
		return &tsvRecords{}, fmt.Errorf("the header cannot be read: %w", err)
	}
	if separator := separatorOf(first.text); separator == ',' || separator == ';' {
		return &tsvRecords{}, fmt.Errorf("the columns are separated by %q, not by tabs: give --format csv", separator)
	}
	return &tsvRecords{lines: lines, header: trimAll(strings.Split(string(first.text), "\t"))}, nil
}

func (t *tsvRecords) next() (record, error) {
	next, err := t.lines.next()
	if err != nil {
		return record{}, err
	}
	if err := next.check(); err != nil {
		return record{}, err
	}
	values := strings.Split(string(next.text), "\t")
	if len(values) != len(t.header) {
		return record{}, next.bad(wrongWidth(len(values), len(t.header)))
	}
	return record{line: next.number, raw: next.text, columns: t.header, values: values}, nil
}

func wrongWidth(has, want int) string {
	columns := "1 column"
	if has != 1 {
		columns = fmt.Sprintf("%d columns", has)
	}
	return fmt.Sprintf("the row has %s; the header has %d", columns, want)
}

func trimAll(values []string) []string {
	for i, value := range values {
		values[i] = strings.TrimSpace(value)
	}
	return values
}
