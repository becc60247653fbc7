package reviewfile_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

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
			checkComment(t, row.Comment)
			ids = append(ids, row.Comment.ID...)
		}
		if at <= last || at > lines {
			t.Fatalf("%s: line %d of %d comes after line %d", format, at, lines, last)
		}
		last = at
	}
}

func checkComment(t *testing.T, c comment.Comment) {
	if err := c.Check(); err != nil {
		t.Fatalf("a comment that cannot be kept: %v", err)
	}
	must.Get(comment.ParseID(string(c.ID)))(t)
	if year := c.CreatedAt().Year(); year < 1970 || year > 9999 || c.Version < 1 {
		t.Fatalf("a comment of the year %d, version %d", year, c.Version)
	}
}
