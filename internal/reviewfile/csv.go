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

// tableRecords reads values below a header. Tabs separate them, and quotes are part of the text; or
// commas do, or semicolons if the header has those. A line such as sep=; above the header names the
// separator: programs write it for Excel. After a quote that is never closed, encoding/csv would
// read the rest of the file as one value. So this reader cuts rows itself: a row continues on the
// next line while its number of quotes is odd. If that makes no valid row, only its first line is
// bad, and the lines after it are read again.
type tableRecords struct {
	lines  *lineReader
	comma  rune
	header []string
}

// newTableRecords reads the header of TSV or CSV. An empty file has no header.
func newTableRecords(lines *lineReader, format Format) (*tableRecords, error) {
	t := &tableRecords{lines: lines, comma: ','}
	names, err := lines.next()
	switch {
	case err == io.EOF:
		return t, nil
	case err != nil:
		return t, fmt.Errorf("the header cannot be read: %w", err)
	}
	separator := separatorOf(names.text)
	switch {
	case format == TSV && (separator == ',' || separator == ';'):
		return t, fmt.Errorf("the columns are separated by %q, not by tabs: give --format csv", separator)
	case format == CSV && separator == '\t':
		return t, errors.New("the columns are separated by tabs: give --format tsv")
	case format == TSV:
		t.comma = '\t'
	case separator == ';':
		t.comma = ';'
	}
	if named, isNamed := bytes.CutPrefix(names.text, []byte("sep=")); format == TSV || !isNamed || len(named) != 1 {
		lines.unread([]line{names})
	}
	first, err := t.next()
	if err != nil {
		return t, fmt.Errorf("the header cannot be read: %w", err)
	}
	for _, name := range first.values {
		t.header = append(t.header, strings.TrimSpace(name))
	}
	return t, nil
}

// next skips empty rows. Where each cell has quotes, they are no blank lines.
func (t *tableRecords) next() (record, error) {
	for {
		r, err := t.any()
		if err != nil || t.header == nil || strings.Join(r.values, "") != "" {
			return r, err
		}
	}
}

func (t *tableRecords) any() (record, error) {
	first, err := t.lines.next()
	if err != nil {
		return record{}, err
	}
	text, more, reason := first.text, []line(nil), ""
	var values []string
	if t.comma == '\t' {
		values = strings.Split(string(text), "\t")
	} else if text, more, reason, err = t.row(first); err != nil {
		return record{}, err
	} else if reason == "" {
		in := csv.NewReader(bytes.NewReader(text))
		in.Comma, in.FieldsPerRecord = t.comma, -1
		if values, err = in.Read(); err != nil {
			reason = `a quote stands where none can be: values with quotes stand in quotes, with "" for each quote inside`
		}
	}
	if reason == "" && t.header != nil && len(values) != len(t.header) {
		reason = wrongWidth(len(values), len(t.header))
	}
	if reason != "" {
		t.lines.unread(more)
		return record{}, first.bad(reason)
	}
	return record{line: first.number, raw: text, columns: t.header, values: values}, nil
}

// row reads a row from its first line until all quotes are closed. If one never is, it says why.
func (t *tableRecords) row(first line) (text []byte, more []line, reason string, err error) {
	text = first.text
	for open := oddQuotes(text); open; {
		next, err := t.lines.any()
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

func wrongWidth(has, want int) string {
	columns, cure := "1 column", ""
	if has != 1 {
		columns = fmt.Sprintf("%d columns", has)
	}
	if has < want {
		cure = ": it was cut off, or a spreadsheet left out empty cells at its end; add a column after the last there, with a value in each row, and save it again"
	}
	return fmt.Sprintf("the row has %s; the header has %d%s", columns, want, cure)
}
