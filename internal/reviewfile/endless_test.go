package reviewfile_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// endless repeats a text far beyond every limit, and counts the bytes read.
type endless struct {
	text string
	read int64
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (n int, err error) {
	if e.read > 80<<20 {
		return 0, io.EOF
	}
	for n < len(p) {
		n += copy(p[n:], e.text[int(e.read+int64(n))%len(e.text):])
	}
	e.read += int64(n)
	return n, nil
}

// A file that goes on without a row, as a small compressed file can, is given up, wherever that
// begins.
func TestEndlessFiles(t *testing.T) {
	const csvRow, jsonRow = "1,p,5,en,x,2020-01-01\n", `{"id":"1","product":"p","rating":5,"lang":"en","text":"x","date":"2020-01-01"}` + "\n"
	for _, row := range []struct {
		why           string
		format        reviewfile.Format
		begins, again string
		want          string
	}{
		{"line ends from the first byte", "", "", strings.Repeat("\n", 1<<16), "refused: the header cannot be read: up to line "},
		{"line ends after a row", reviewfile.CSV, csvHeader + csvRow, strings.Repeat("\r\n", 1<<16), "broken off: up to line "},
		{"lines of spaces after a row", reviewfile.JSONLines, jsonRow, strings.Repeat(strings.Repeat(" ", 99)+"\n", 100), "broken off: up to line "},
		{"empty rows of a spreadsheet", reviewfile.CSV, csvHeader + csvRow, strings.Repeat(",,,,,\n", 1<<13), "broken off: up to line "},
		{"lines of spaces", reviewfile.TSV, amazonHeader, strings.Repeat(strings.Repeat(" ", 1<<16)+"\n", 10), "broken off: up to line "},
		{"line ends within a quote", reviewfile.CSV, csvHeader + `1,p,5,en,"x`, strings.Repeat("\n", 1<<16), "broken off: up to line "},
		{"a line of spaces", reviewfile.CSV, csvHeader + csvRow, strings.Repeat(" ", 1<<16), "broken off: line 3 does not end within 64 MiB"},
		{"a line of letters", reviewfile.CSV, csvHeader + `1,p,5,en,"x`, strings.Repeat("x", 1<<16), "broken off: line 2 does not end within 64 MiB"},
	} {
		rest := &endless{text: row.again}
		got := readAll(io.MultiReader(strings.NewReader(row.begins), rest), reviewfile.Options{Format: row.format, Language: "en"})
		if last := strings.Join(got[max(0, len(got)-1):], ""); !strings.HasPrefix(last, row.want) || rest.read > 65<<20 {
			t.Errorf("%s: after %d bytes %q", row.why, rest.read, last)
		}
	}
	// A long stretch without rows that ends is accepted.
	got := readAll(strings.NewReader(csvHeader+csvRow+strings.Repeat("\n", 4<<20-100)+csvRow+strings.Repeat("\n", 4<<20-100)+csvRow), reviewfile.Options{Format: reviewfile.CSV})
	if len(got) != 3 {
		t.Errorf("%.200q, want three rows", got)
	}
}

// gzipped compresses a text.
func gzipped(text string) []byte {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, text) // into memory
	_ = zip.Close()
	return packed.Bytes()
}

// If a file changes while it is read, it may end within a row. It is not accepted as complete.
func TestFileThatChanges(t *testing.T) {
	text := csvHeader + strings.Repeat("1,p,5,en,x,2020-01-01\n", 10_000)
	packed := gzipped(text)
	for _, row := range []struct {
		why    string
		stored string
		change func(*os.File) error
		want   string
	}{
		{"it stays", text, func(*os.File) error { return nil }, "line 10001: "},
		{"it is cut at the end of a row", text, func(f *os.File) error { return f.Truncate(int64(len(csvHeader) + 22*9000)) }, "bytes when it was opened"},
		{"it grows", text, func(f *os.File) error { _, err := f.WriteString("2,p,5,en,x,2020-01-01\n"); return err }, "bytes when it was opened"},
		{"a compressed one grows", string(packed), func(f *os.File) error { _, err := f.Write(packed); return err }, "bytes when it was opened"},
	} {
		path := filepath.Join(t.TempDir(), "reviews.csv")
		must.Do(t, os.WriteFile(path, []byte(row.stored), 0o600))
		source := must.Get(reviewfile.Open(path, nil))(t)
		file := must.Get(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))(t)
		must.Do(t, row.change(file))
		got := readAll(source, reviewfile.Options{Format: reviewfile.CSV})
		if last := got[len(got)-1]; !strings.Contains(last, row.want) {
			t.Errorf("%s: %d rows, the last %q", row.why, len(got), last)
		}
		_, _ = file.Close(), source.Close()
	}
}

// FuzzRow reads any bytes in every format. Reading ends, line numbers only increase, every comment
// can be stored, and the same bytes give the same IDs.
func FuzzRow(f *testing.F) {
	f.Add([]byte(amazonHeader + "US\tR1\tB1\t5\tT\tx &amp; y<br>\t2015-08-20\t9\n"))
	f.Add([]byte(csvHeader + "1,p,5,en,\"a\n\"\"b\",2020-01-01\n\"\n"))
	f.Add([]byte(`{"product":"p","stars":5.0,"lang":"en","text":"a","date":1439115072,"x":{"y":[null]}}`))
	f.Add([]byte(`{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"p","rating":1,"language":"en","text":"","author":"a","authorName":"A","createdAt":"2024-05-28T16:19:36.576Z","version":3}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, options := range []reviewfile.Options{{Format: reviewfile.TSV}, {Format: reviewfile.CSV}, {Format: reviewfile.JSONLines}, {Format: reviewfile.JSONLines, Restore: true}} {
			first, second := fuzzRead(t, input, options), fuzzRead(t, input, options)
			if !bytes.Equal(first, second) {
				t.Errorf("%+v: ids differ from one reading to the next", options)
			}
		}
	})
}

func fuzzRead(t *testing.T, input []byte, options reviewfile.Options) (ids []byte) {
	reader, err := reviewfile.NewReader(bytes.NewReader(input), options)
	format := options.Format
	if err != nil {
		return nil
	}
	lines := bytes.Count(input, []byte("\n")) + 1
	for last := 0; ; {
		row, err := reader.Next()
		if err == io.EOF {
			return ids
		}
		at := row.Line
		var bad *reviewfile.RowError
		if errors.As(err, &bad) {
			at = bad.Line
			if bad.Reason == "" || !utf8.ValidString(bad.Reason) {
				t.Fatalf("%s: line %d has the reason %q", format, at, bad.Reason)
			}
		} else if err != nil {
			t.Fatalf("%s: bytes in memory cannot be read: %v", format, err)
		} else {
			must.Do(t, row.Comment.Check())
			must.Get(comment.ParseID(string(row.Comment.ID)))(t)
			if year := row.Comment.CreatedAt().Year(); year < 1970 || year > 9999 || row.Comment.Version < 1 {
				t.Fatalf("a comment of the year %d, version %d", year, row.Comment.Version)
			}
			ids = append(ids, row.Comment.ID...)
		}
		if at <= last || at > lines {
			t.Fatalf("%s: line %d of %d comes after line %d", format, at, lines, last)
		}
		last = at
	}
}
