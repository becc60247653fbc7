package reviewfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// How many bytes are read to recognize a file: enough for the first names in a workbook's archive,
// and for any header.
const (
	kindBytes   = 4 << 10
	formatBytes = 32 << 10
)

// kinds are files that people mistake for reviews: their first bytes, what they are, and what to do
// instead.
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
	{"<?xml", "XML", "turn it into CSV or JSON Lines"},
}

const saveAsCSV = "in Excel, save it as CSV UTF-8, and import that"

// The first names in the archive of an Excel workbook, and in that of a LibreOffice spreadsheet.
var (
	workbookParts = []string{"[Content_Types].xml", "xl/"}
	sheetPart     = "mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
)

// checkKind refuses files that hold no reviews, and says what they are.
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
		return errors.New("the file is no text: give one of tab-separated values, CSV or JSON Lines in UTF-8")
	}
	return nil
}

// sniff returns the format that the first line shows. An empty file counts as CSV without rows.
func sniff(in *bufio.Reader) (Format, error) {
	head, _ := in.Peek(formatBytes) // a later read meets the same error
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	switch separator := separatorOf(first); {
	case len(first) == 0:
		return CSV, nil
	case first[0] == '{', first[0] == '[':
		return JSONLines, nil
	case separator == '\t':
		return TSV, nil
	case separator != 0:
		return CSV, nil
	}
	return "", errors.New("the beginning of the file does not tell how it is written: give --format tsv, csv or jsonl")
}

// separatorOf returns the most frequent separator of a header: a tab, a comma or a semicolon; 0 if
// it has none.
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
