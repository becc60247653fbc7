package reviewfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

const maxRowLines = 10_000

// csvRecords reads values separated by commas, or by semicolons if the header has those. A line
// such as sep=; above the header names the separator: programs write it for Excel. After a quote
// that is never closed, encoding/csv would read the rest of the file as one value. So this reader
// cuts rows itself: a row continues on the next line while its number of quotes is odd. If that
// makes no valid row, only its first line is bad, and the lines after it are read again.
type csvRecords struct {
	lines  *lineReader
	comma  rune
	header []string
}

// newCSVRecords reads the header. An empty file has no header.
func newCSVRecords(lines *lineReader) (*csvRecords, error) {
	c := &csvRecords{lines: lines, comma: ','}
	names, err := lines.next()
	switch {
	case err == io.EOF:
		return c, nil
	case err != nil:
		return c, fmt.Errorf("the header cannot be read: %w", err)
	}
	separator := separatorOf(names.text)
	if named, isNamed := bytes.CutPrefix(names.text, []byte("sep=")); !isNamed || len(named) != 1 {
		lines.unread([]line{names})
	}
	switch separator {
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
	text, more, reason, err := c.row(first)
	if err != nil {
		return record{}, err
	}
	var values []string
	if reason == "" {
		in := csv.NewReader(bytes.NewReader(text))
		in.Comma, in.FieldsPerRecord = c.comma, -1
		if values, err = in.Read(); err != nil {
			reason = `a quote stands where none can be: values with quotes stand in quotes, with "" for each quote inside`
		} else if c.header != nil && len(values) != len(c.header) {
			reason = wrongWidth(len(values), len(c.header))
		}
	}
	if reason != "" {
		c.lines.unread(more)
		return record{}, first.bad(reason)
	}
	return record{line: first.number, raw: text, columns: c.header, values: values}, nil
}

// row reads a row from its first line until all quotes are closed. If one never is, it says why.
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

// tsvRecords reads tab-separated values. Unlike in encoding/csv, quotes are part of the text.
type tsvRecords struct {
	lines  *lineReader
	header []string
}

// newTSVRecords reads the header. An empty file has no header.
func newTSVRecords(lines *lineReader) (*tsvRecords, error) {
	first, err := lines.next()
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
