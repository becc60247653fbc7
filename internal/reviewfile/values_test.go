package reviewfile_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// read reads a JSON object, after adding the fields that a comment needs.
func read(t *testing.T, object map[string]any) (comment.Comment, error) {
	t.Helper()
	for name, value := range map[string]any{"product": "p", "rating": 5, "lang": "en", "text": "t", "date": "2020-01-01"} {
		if _, given := object[name]; !given {
			object[name] = value
		}
	}
	text := must.Get(json.Marshal(object))(t)
	reader := must.Get(reviewfile.NewReader(bytes.NewReader(text), reviewfile.Options{Format: reviewfile.JSONLines}))(t)
	row, err := reader.Next()
	return row.Comment, err
}

func mustRead(t *testing.T, object map[string]any) comment.Comment {
	t.Helper()
	return must.Get(read(t, object))(t)
}

// One file may have dates in several layouts.
func TestDates(t *testing.T) {
	const second, day = "2015-08-09T10:11:12Z", "2015-08-09T00:00:00Z"
	var input bytes.Buffer
	var wants []string
	for written, want := range map[any]string{
		"2015-08-09T10:11:12Z":          second,
		"2015-08-09T10:11:12.345Z":      "2015-08-09T10:11:12.345Z",
		"2015-08-09T12:11:12+02:00":     second,
		"2015-08-09T12:11:12+0200":      second,
		"2015-08-09T10:11:12":           second,
		"2015-08-09T10:11:12.3456789":   "2015-08-09T10:11:12.345Z",
		"2015-08-09 10:11:12":           second,
		"2015-08-09 10:11:12,5":         "2015-08-09T10:11:12.5Z",
		"2015-08-09 12:11:12+02:00":     second,
		"2015-08-09 12:11:12 +0200":     second,
		"2015-08-09 12:11:12.000+02":    second, // PostgreSQL
		"2015-08-09T12:11:12+02":        second,
		"2015-08-09T12:11+02":           "2015-08-09T10:11:00Z",
		"2015-08-09T12:11+0200":         "2015-08-09T10:11:00Z",
		"2015-08-09 12:11:12+0200":      second, // Python
		"2015-08-09 10:11Z":             "2015-08-09T10:11:00Z",
		"2015-08-09 10:11:12 UTC":       second,
		"2015-08-09 10:11:12 +0000 UTC": second,
		"2015-08-09T10:11":              "2015-08-09T10:11:00Z",
		"2015-08-09 10:11":              "2015-08-09T10:11:00Z",
		"2015-08-09":                    day,
		" 2015-08-09 ":                  day,
		"2015/08/09":                    day,
		"2015/8/9":                      day,
		"2015/08/09 10:11:12":           second,
		"20150809":                      day,
		"201508091011":                  "2015-08-09T10:11:00Z",
		"20150809101112":                second,
		20150809101112:                  second,
		951782400000:                    "2000-02-29T00:00:00Z",
		"August 9, 2015":                day,
		"Aug 9, 2015":                   day,
		"9 August 2015":                 day,
		"8 9, 2015":                     day,
		"08 09, 2015":                   day,
		1439115072:                      second,
		"1439115072":                    second,
		1439115072.25:                   "2015-08-09T10:11:12.25Z",
		1439115072345:                   "2015-08-09T10:11:12.345Z",
		"1439115072345678":              "2015-08-09T10:11:12.345Z",
		"1439115072345678901":           "2015-08-09T10:11:12.345Z",
		"1970-01-01":                    "1970-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999Z":      "9999-12-31T23:59:59.999Z",
	} {
		raw := must.Get(json.Marshal(written))(t)
		if number, ok := written.(float64); ok {
			raw = fmt.Appendf(nil, "%.2f", number) // without an exponent, unlike those of json.Marshal
		}
		fmt.Fprintf(&input, `{"product":"p","rating":5,"lang":"en","text":"t","date":%s}`+"\n", raw)
		wants = append(wants, fmt.Sprintf(`line %d: p 5 en %s text="t" author=anonymous/Anonymous`, len(wants)+1, want))
	}
	all := input.String()
	check.Equal(t, wants, readAll(&input, reviewfile.Options{Format: reviewfile.JSONLines}), all)
}

func TestTexts(t *testing.T) {
	for written, want := range map[string]string{
		"a &amp; b &#34;c&#34;":                              `a & b "c"`,
		"one<br />two<br>three<BR/>":                         "one\ntwo\nthree",
		"&lt;br&gt; stays a text":                            "<br> stays a text",
		"&amp;lt; is unescaped once":                         "&lt; is unescaped once",
		"other <b>tags</b> go":                               "other tags go",
		"<p>one</p>\n<p>two<br />\nthree</p>\n":              "one\n\ntwo\nthree",
		"a<br><br>b<div>c</div><div>d</div>e":                "a\n\nb\nc\nd\ne",
		"<ul><li>light<li>quiet</ul>":                        "light\nquiet",
		"a<script>alert('&lt;')</script>b<STYLE>p{}</style>": "ab",
		"a <script>b &amp; c":                                "a b & c",
		"a<style>p{}</style>b<script>c":                      "abc",
		"a <!-- note -->b":                                   "a b",
		`<a href="https://x.example/?a=1&amp;b">here</a>`:    "here",
		"I <3 it, 5 < 6 > 4":                                 "I <3 it, 5 < 6 > 4",
		"mail <me@x.example> &amp; x<y":                      "mail <me@x.example> & x<y",
		"cut off <b class=":                                  "cut off <b class=",
		"AT&T":                                               "AT&T",
		"a\r\nb\rc":                                          "a\nb\nc",
		"a\x00b\x1bc\x7fd\u0085e":                            "abcde",
		"&#55357;&#56832;":                                   "😀",
		"a&#xD83D;&#x0DE00 b":                                "a😀 b",
		"&amp;#55357; stays a text":                          "&#55357; stays a text",
		"&#8217;&#x110000;&# &#":                             "’\uFFFD&# &#",
		"tab\tstays":                                         "tab\tstays",
		" \n\u00a0 around \t\n":                              "around",
		"&#13;&#10;x":                                        "x",
		"👍🏽 العربية":                                         "👍🏽 العربية",
		"":                                                   "",
	} {
		if c := mustRead(t, map[string]any{"text": written}); c.Text != want {
			t.Errorf("%q is read as %q, want %q", written, c.Text, want)
		}
	}
	if c := mustRead(t, map[string]any{"title": " a<br>b &amp; c\t"}); c.Title == nil || *c.Title != "a b & c" {
		t.Errorf("a title of two lines is read as %v, want it on one", c.Title)
	}
	for _, nothing := range []string{" &nbsp; ", "&#8203;", "\u2800 \u200d"} {
		c := mustRead(t, map[string]any{"title": nothing, "text": "<p>" + nothing + "</p>", "author_name": nothing, "reply": nothing})
		if c.Title != nil || c.Text != "" || c.Author.Name != "Anonymous" || c.Reply != nil {
			t.Errorf("%+q, which shows nothing, is read as %+v", nothing, c)
		}
	}
}

// Half of a surrogate pair is never replaced silently.
func TestHalfEntities(t *testing.T) {
	for _, written := range []string{"&#55357;", "a &#xde00", "&#56832;&#55357;", "&#55357; &#56832;", "&#55357;&#55357;&#56832;"} {
		for _, field := range []string{"text", "title", "author_name"} {
			_, err := read(t, map[string]any{field: written})
			if err == nil || !strings.Contains(err.Error(), "half of a character") {
				t.Errorf("%s %q: %v", field, written, err)
			}
		}
	}
}

func TestRatings(t *testing.T) {
	for written, want := range map[any]int{5: 5, "5": 5, "5.0": 5, " 3.00 ": 3, "4,0": 4, json.Number("1.0"): 1, "2.": 2} {
		if c := mustRead(t, map[string]any{"rating": written}); c.Rating != want {
			t.Errorf("%v is read as %d stars, want %d", written, c.Rating, want)
		}
	}
}

func TestAuthors(t *testing.T) {
	long := strings.Repeat("n", comment.MaxIDBytes+1)
	for _, test := range []struct{ id, name, want string }{
		{"", "", "anonymous/Anonymous"},
		{"7", "", "7/Anonymous"},
		{"7", "Ann", "7/Ann"},
		{"", "Ann", "Ann/Ann"},
		{"", long, "0bf2917cc7e3d671a8cb2cea35cfffbc6586cfda9f0ae830a6e1f2295b74fc8c/" + long},
	} {
		c := mustRead(t, map[string]any{"author": test.id, "author_name": test.name})
		if got := distinct.ReplaceAllString(c.Author.ID, "anonymous") + "/" + c.Author.Name; got != test.want || !c.Author.Imported {
			t.Errorf("id %q, name %q: got %s, want %s, imported", test.id, test.name, got, test.want)
		}
	}
}

// Authors are customers of the shop only if the options say so, and only if they have an ID.
func TestAuthorsWhoAreCustomers(t *testing.T) {
	for _, row := range []struct {
		id        string
		customers bool
		imported  bool
	}{{"7", false, true}, {"7", true, false}, {"", false, true}, {"", true, true}} {
		line := fmt.Sprintf(`{"product":"p","rating":5,"language":"en","text":"x","date":"2020-01-01","author":%q,"author_name":"Ada"}`, row.id)
		got, reason := first(t, line, reviewfile.Options{Format: reviewfile.JSONLines, Customers: row.customers})
		if reason != "" || got.Author.Imported != row.imported {
			t.Errorf("id %q, customers: %v: %+v, %s", row.id, row.customers, got.Author, reason)
		}
	}
}

// The ID of a comment derives from the IDs of the review and the product, and the date. Without a
// review ID, all values count.
func TestIDs(t *testing.T) {
	id := func(object map[string]any) comment.ID { return mustRead(t, object).ID }
	first := id(map[string]any{"review_id": "r1", "product": "ab"})
	if again := id(map[string]any{"review_id": "r1", "product": "ab", "text": "edited", "rating": 1}); again != first {
		t.Errorf("the same review has two ids: %s and %s", first, again)
	}
	for name, other := range map[string]map[string]any{
		"another review":  {"review_id": "r2", "product": "ab"},
		"another product": {"review_id": "r1", "product": "a"},
		"a shifted cut":   {"review_id": "br1", "product": "a"},
		"another time":    {"review_id": "r1", "product": "ab", "date": "2020-01-02"},
		"no id at all":    {"product": "ab"},
	} {
		if got := id(other); got == first {
			t.Errorf("%s has the id of the first: %s", name, got)
		}
	}
	without := id(map[string]any{"votes": 1})
	if same := id(map[string]any{"votes": 1, "nothing": nil}); same != without {
		t.Errorf("the same row has two ids: %s and %s", without, same)
	}
	if other := id(map[string]any{"votes": 2}); other == without {
		t.Errorf("rows that differ have one id: %s", other)
	}
	if want := "c_01DXF6DT00"; !strings.HasPrefix(string(first), want) {
		t.Errorf("%s does not begin with the time of 2020-01-01, %s", first, want)
	}
}

// Tables hold these IDs. If they changed, a second import would add every review again.
func TestIDsStayTheSame(t *testing.T) {
	for _, test := range []struct {
		object map[string]any
		want   comment.ID
	}{
		{map[string]any{"review_id": "R8BLO9YMV3CFA", "product": "B00NQXC2YU"}, "c_01DXF6DT00RA2MBMSGYMXDBY1N"},
		{map[string]any{}, "c_01DXF6DT00N5PCY7ANV3A0Y69P"},
	} {
		if got := mustRead(t, test.object).ID; got != test.want {
			t.Errorf("%v: got %s, want %s", test.object, got, test.want)
		}
	}
}

// Lines that are too long are bad rows, and the rows around them are read.
func TestLongLines(t *testing.T) {
	const limit = 4 << 20
	long := strings.Repeat("x", limit)
	rows := readAll(io.MultiReader(
		strings.NewReader(amazonHeader),
		strings.NewReader("US\tR1\tB1\t5\tT\t"+long+"\t2015-08-20\t9\n"),
		strings.NewReader(strings.Repeat(long, 5)+"\n"),
		strings.NewReader("US\tR2\tB1\t5\tT\tx\t2015-08-20\t9\n"),
	), reviewfile.Options{Format: reviewfile.TSV})
	if len(rows) != 3 || rows[0] != "line 2: the line is longer than 4 MiB" || rows[1] != "line 3: the line is longer than 4 MiB" || !strings.HasPrefix(rows[2], "line 4: B1 5") {
		t.Errorf("got %.200q", rows)
	}
}

// A quote that is closed thousands of lines later is a mistake. The rows in between are not lost.
func TestQuoteOpenForLong(t *testing.T) {
	const rows = 12_000
	input := csvHeader + "1,p,5,en,\"lost,2020-01-01\n" + strings.Repeat("2,p,4,en,kept,2020-01-01\n", rows) + "3,p,5,en,lost\",2020-01-01\n"
	got := readAll(strings.NewReader(input), reviewfile.Options{Format: reviewfile.CSV})
	if len(got) != rows+2 || got[0] != "line 2: a quote is opened and not closed within 10000 lines and 4 MiB" || got[1] == got[0] {
		t.Errorf("%d rows, the first %q; want %d, the first and the last bad", len(got), got[0], rows+2)
	}
}

// A RowError holds the bad row, truncated.
func TestRawOfBadRows(t *testing.T) {
	bad := strings.Repeat("é", 20_000)
	reader, err := reviewfile.NewReader(strings.NewReader(amazonHeader+"a\tb\n"+bad), reviewfile.Options{Format: reviewfile.TSV})
	must.Do(t, err)
	for _, want := range []string{"a\tb", bad[:16<<10]} {
		_, err = reader.Next()
		var row *reviewfile.RowError
		if !errors.As(err, &row) || row.Raw != want {
			t.Errorf("got %.60q, want %.60q", err, want)
		}
	}
}

// A failing disk ends the read. It is not a bad row.
func TestBrokenInput(t *testing.T) {
	for format, header := range map[reviewfile.Format]string{reviewfile.TSV: amazonHeader, reviewfile.CSV: csvHeader} {
		rows := readAll(io.MultiReader(strings.NewReader(header), iotest.ErrReader(errors.New("the disk is gone"))), reviewfile.Options{Format: format})
		if len(rows) != 1 || rows[0] != "broken off: the file cannot be read beyond line 2: the disk is gone" {
			t.Errorf("%s: got %q", format, rows)
		}
	}
}

func TestOpen(t *testing.T) {
	// The name does not matter: gzip is recognized by its first bytes.
	for _, row := range []struct{ name, content, want string }{
		{"plain.gz", "hello", "hello"}, {"packed.txt", string(gzipped("hello")), "hello"}, {"one", "h", "h"}, {"empty", "", ""},
	} {
		path := filepath.Join(t.TempDir(), row.name)
		must.Do(t, os.WriteFile(path, []byte(row.content), 0o600))
		for from, size := range map[string]int{path: len(row.content), reviewfile.StandardInput: -1} {
			source := must.Get(reviewfile.Open(from, strings.NewReader(row.content)))(t)
			got, err := io.ReadAll(source)
			if err != nil || string(got) != row.want {
				t.Errorf("%s from %s reads as %q, %v; want %q", row.name, from, got, err, row.want)
			}
			if source.Size != int64(size) || source.Taken() != int64(len(row.content)) {
				t.Errorf("%s from %s: size %d, taken %d; want %d and all", row.name, from, source.Size, source.Taken(), size)
			}
			if err := source.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := reviewfile.Open(filepath.Join(t.TempDir(), "absent"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	if source, err := reviewfile.Open(t.TempDir(), nil); err == nil {
		t.Errorf("a folder opens as %v", source)
	}
}

// A gzip file that is damaged or cut off yields the rows that it holds, and then an error with the
// cure.
func TestDamagedGzip(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, csvHeader+"1,p,5,en,x,2020-01-01\n")
	_ = zip.Flush()
	cut := packed.String()
	_ = zip.Close()
	whole := slices.Clone(packed.Bytes())
	whole[len(whole)-5] ^= 1 // of the checksum
	const cure = "): copy it again, or make it anew"
	for file, want := range map[string]string{cut: "unexpected EOF", string(whole): "gzip: invalid checksum", cut + "\xff\xff": "flate: corrupt input"} {
		source := must.Get(reviewfile.Open(reviewfile.StandardInput, strings.NewReader(file)))(t)
		rows := readAll(source, reviewfile.Options{Format: reviewfile.CSV})
		if len(rows) != 2 || !strings.HasPrefix(rows[1], "broken off: the file cannot be read beyond line 3: its compressed data is damaged or cut off ("+want) || !strings.HasSuffix(rows[1], cure) {
			t.Errorf("got %q", rows)
		}
	}
	if _, err := reviewfile.Open(reviewfile.StandardInput, strings.NewReader(cut[:5])); err == nil || !strings.HasSuffix(err.Error(), cure) {
		t.Errorf("cut off in the head: %v", err)
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]reviewfile.Format{
		"a.tsv": "tsv", "a.TSV.gz": "tsv", "x/a.csv": "csv", "a.jsonl.gz": "jsonl", "a.ndjson": "jsonl", "a.json": "jsonl",
		"a": "", "-": "", "a.gz": "", "a.txt": "", "tsv": "tsv",
	} {
		if got := reviewfile.FormatOf(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
