package reviewfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// maxRowLines bounds the lines of one row.
const maxRowLines = 10_000

// csvRecords reads values separated by commas, or by semicolons if the header has those. With a
// quote that is never closed, encoding/csv would read the rest of the file as one value. So rows
// are cut here: a row goes on over the next line as long as its number of quotes is odd. If that
// makes no valid row, only its first line is bad, and the lines after it are read again.
type csvRecords struct {
	lines  *lineReader
	comma  rune
	header []string
}

// newCSVRecords reads the header. An empty file has none.
func newCSVRecords(lines *lineReader) (*csvRecords, error) {
	c := &csvRecords{lines: lines, comma: ','}
	names, err := lines.next()
	switch {
	case err == io.EOF:
		return c, nil
	case err != nil:
		return c, fmt.Errorf("the header cannot be read: %w", err)
	}
	lines.unread([]line{names})
	switch separatorOf(names.text) {
	case ';':
		c.comma = ';'
	case '\t':
		return c, errors.New("the columns are separated by tabs: give --format tsv")
	}
	first, err := c.next()
	if err != nil {
		return c, fmt.Errorf("the header cannot be read: %w", err)
	}
	c.header = trimAll(first.values)
	return c, nil
}

func (c *csvRecords) next() (record, error) {
	first, err := c.lines.next()
	if err != nil {
		return record{}, err
	}
	if err := first.check(); err != nil {
		return record{}, err
	}
	text, more, reason, err := c.row(first)
	if err != nil {
		return record{}, err
	}
	var values []string
	if reason == "" {
		values, reason = c.parse(text)
	}
	if reason != "" {
		c.lines.unread(more)
		return record{}, first.bad(reason)
	}
	return record{line: first.number, raw: text, columns: c.header, values: values}, nil
}

// row reads a row, given its first line, until the quotes are closed. If they are not, it returns
// the reason.
func (c *csvRecords) row(first line) (text []byte, more []line, reason string, err error) {
	text = first.text
	for open := oddQuotes(text); open; {
		next, err := c.lines.any()
		if err == io.EOF {
			return text, more, "a quote is opened and never closed", nil
		}
		if err != nil {
			return nil, nil, "", err
		}
		more = append(more, next)
		if reason := next.fault(); reason != "" {
			return text, more, fmt.Sprintf("a quote is opened and not closed before line %d, which cannot be read: %s", next.number, reason), nil
		}
		if len(text)+1+len(next.text) > maxLine || len(more) == maxRowLines {
			return text, more, fmt.Sprintf("a quote is opened and not closed within %d lines and %d MiB", maxRowLines, maxLine>>20), nil
		}
		text = append(append(text, '\n'), next.text...)
		open = open != oddQuotes(next.text)
	}
	return text, more, "", nil
}

func oddQuotes(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

// parse returns the values of one row, or the reason why it is bad.
func (c *csvRecords) parse(text []byte) (values []string, reason string) {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma, in.FieldsPerRecord = c.comma, -1
	values, err := in.Read()
	if err != nil {
		return nil, `a quote stands where none can be: values with quotes stand in quotes, with "" for each quote inside`
	}
	if c.header != nil && len(values) != len(c.header) {
		return nil, wrongWidth(len(values), len(c.header))
	}
	return values, ""
}
