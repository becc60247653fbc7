package reviewfile_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// distinct matches the ID of an author whom a row does not name.
var distinct = regexp.MustCompile("^anonymous-[0-9a-f]{20}$")

// outcome returns a row in the form that tests compare: a comment, or the fault of the row.
func outcome(row reviewfile.Row, err error) string {
	if err != nil {
		return err.Error()
	}
	c := row.Comment
	title := ""
	if c.Title != nil {
		title = fmt.Sprintf(" title=%q", *c.Title)
	}
	return fmt.Sprintf("line %d: %s %d %s %s%s text=%q author=%s/%s", row.Line, c.ProductID, c.Rating, c.Language,
		c.CreatedAt().Format(time.RFC3339Nano), title, c.Text, distinct.ReplaceAllString(c.Author.ID, "anonymous"), c.Author.Name)
}

// readAll reads an input to its end. If the input is refused or breaks off, the last entry is the
// error.
func readAll(input io.Reader, options reviewfile.Options) []string {
	reader, err := reviewfile.NewReader(input, options)
	if err != nil {
		return []string{"refused: " + err.Error()}
	}
	var out []string
	for {
		row, err := reader.Next()
		var bad *reviewfile.RowError
		switch {
		case err == io.EOF:
			return out
		case err != nil && !errors.As(err, &bad):
			return append(out, "broken off: "+err.Error())
		}
		out = append(out, outcome(row, err))
	}
}

// first returns the comment of the first row of a file, or the reason why the row is bad.
func first(t *testing.T, file string, options reviewfile.Options) (c comment.Comment, reason string) {
	t.Helper()
	row, err := must.Get(reviewfile.NewReader(strings.NewReader(file), options))(t).Next()
	var bad *reviewfile.RowError
	if errors.As(err, &bad) {
		if strings.Contains(bad.Reason, "; -") || strings.Contains(bad.Reason, ", -") {
			t.Errorf("the file of rejected rows has the flag as an escape, since a spreadsheet might run it: %s", bad.Reason)
		}
		return row.Comment, bad.Reason
	}
	must.Do(t, err)
	return row.Comment, ""
}

// asWanted reports whether a row is bad for the wanted reason, or good if that is empty.
func asWanted(reason, want string) bool {
	return (reason == "") == (want == "") && strings.Contains(reason, want)
}

const (
	amazonHeader = "marketplace\treview_id\tproduct_id\tstar_rating\treview_headline\treview_body\treview_date\tcustomer_id\n"
	csvHeader    = "id,product,rating,lang,text,date\n"
)

func TestRows(t *testing.T) {
	for _, test := range []struct {
		name    string // the reason for the outcome
		options reviewfile.Options
		input   string
		want    []string
	}{
		{"quotes of a TSV are text, also unbalanced ones",
			reviewfile.Options{Format: reviewfile.TSV},
			amazonHeader + "US\tR1\tB1\t5\t\"Great\"\tan 8\" pan\t2015-08-20\t77\n",
			[]string{`line 2: B1 5 en 2015-08-20T00:00:00Z title="\"Great\"" text="an 8\" pan" author=77/Anonymous`}},
		{"marketplaces tell languages, in any case",
			reviewfile.Options{Format: reviewfile.TSV},
			amazonHeader + "jp\tR1\tB1\t4\t\tよい\t2015-08-20\t\nDE\tR2\tB1\t4\t\tgut\t2015-08-20\t\n",
			[]string{
				`line 2: B1 4 ja 2015-08-20T00:00:00Z text="よい" author=anonymous/Anonymous`,
				`line 3: B1 4 de 2015-08-20T00:00:00Z text="gut" author=anonymous/Anonymous`}},
		{"a headline is the text of a file without texts",
			reviewfile.Options{Format: reviewfile.TSV},
			"marketplace\tproduct_id\tstar_rating\treview_headline\treview_date\nFR\tB1\t1\tNul\t2015-08-20\nFR\tB1\t1\t\t2015-08-20\n",
			[]string{
				`line 2: B1 1 fr 2015-08-20T00:00:00Z text="Nul" author=anonymous/Anonymous`,
				`line 3: B1 1 fr 2015-08-20T00:00:00Z text="" author=anonymous/Anonymous`}},
		{"--language-of wins over what a value means otherwise",
			reviewfile.Options{Format: reviewfile.TSV, LanguageOf: map[string]comment.Language{"us": "es", "xx": "nl"}},
			amazonHeader + "US\tR1\tB1\t5\t\t\t2015-08-20\t\nXX\tR2\tB1\t5\t\t\t2015-08-20\t\nUK\tR3\tB1\t5\t\t\t2015-08-20\t\n",
			[]string{
				`line 2: B1 5 es 2015-08-20T00:00:00Z text="" author=anonymous/Anonymous`,
				`line 3: B1 5 nl 2015-08-20T00:00:00Z text="" author=anonymous/Anonymous`,
				`line 4: B1 5 en 2015-08-20T00:00:00Z text="" author=anonymous/Anonymous`}},
		{"--language alone is that of every row, whatever the columns say",
			reviewfile.Options{Format: reviewfile.TSV, Language: "und"},
			amazonHeader + "US\tR1\tB1\t5\t\t\t2015-08-20\t\n",
			[]string{`line 2: B1 5 und 2015-08-20T00:00:00Z text="" author=anonymous/Anonymous`}},
		{"--language beside a mapped column is for rows whose column tells none",
			reviewfile.Options{Format: reviewfile.CSV, Language: "und", Columns: map[reviewfile.Field]string{reviewfile.Language: "lang"}},
			csvHeader + "1,p,5,pt_br,x,2020-01-01\n2,p,5,,x,2020-01-01\n3,p,5,gibberish,x,2020-01-01\n",
			[]string{
				`line 2: p 5 pt-BR 2020-01-01T00:00:00Z text="x" author=anonymous/Anonymous`,
				`line 3: p 5 und 2020-01-01T00:00:00Z text="x" author=anonymous/Anonymous`,
				`line 4: p 5 und 2020-01-01T00:00:00Z text="x" author=anonymous/Anonymous`}},
		{"--map wins over known names, and an empty column is none, not the one without a name that pandas writes",
			reviewfile.Options{Format: reviewfile.CSV, Columns: map[reviewfile.Field]string{
				reviewfile.Text: "Notes", reviewfile.Title: "", reviewfile.AuthorName: "who"}},
			",product,rating,lang,title,text,notes,who,date\n0,p,5,en,T,X,N,Ann Lee,2020-01-01\n",
			[]string{`line 2: p 5 en 2020-01-01T00:00:00Z text="N" author=Ann Lee/Ann Lee`}},
		{"values of CSV go over lines, and keep commas and quotes",
			reviewfile.Options{Format: reviewfile.CSV},
			csvHeader + "1,p,5,en,\"one, \"\"two\"\"\n,,\nthree\",2020-01-01\r\n2,p,4,en,next,2020-01-01\r\n",
			[]string{
				`line 2: p 5 en 2020-01-01T00:00:00Z text="one, \"two\"\n,,\nthree" author=anonymous/Anonymous`,
				`line 5: p 4 en 2020-01-01T00:00:00Z text="next" author=anonymous/Anonymous`}},
		{"a quote that is never closed costs its own line alone",
			reviewfile.Options{Format: reviewfile.CSV},
			csvHeader + "1,p,5,en,\"lost,2020-01-01\n2,p,4,en,kept,2020-01-01\n3,p,4,en,\"kept\",2020-01-01\n",
			[]string{
				"line 2: a quote is opened and never closed",
				`line 3: p 4 en 2020-01-01T00:00:00Z text="kept" author=anonymous/Anonymous`,
				`line 4: p 4 en 2020-01-01T00:00:00Z text="kept" author=anonymous/Anonymous`}},
		{"quotes that make a row of the wrong width cost their own lines alone",
			reviewfile.Options{Format: reviewfile.CSV},
			csvHeader + "1,p,5,en,\"lost,2020-01-01\n2,p,4,en,kept,2020-01-01\n3,p,4,en,lost\",2020-01-01,\n4,p,4,en,kept,2020-01-01\n",
			[]string{
				"line 2: the row has 7 columns; the header has 6",
				`line 3: p 4 en 2020-01-01T00:00:00Z text="kept" author=anonymous/Anonymous`,
				"line 4: a quote is opened and never closed",
				`line 5: p 4 en 2020-01-01T00:00:00Z text="kept" author=anonymous/Anonymous`}},
		{"a line that is no UTF-8 costs itself and the row that goes on over it",
			reviewfile.Options{Format: reviewfile.CSV},
			csvHeader + "1,p,5,en,\"lost\ncaf\xe9\",2020-01-01\n2,p,4,en,kept,2020-01-01\n",
			[]string{
				"line 2: a quote is opened and not closed before line 3, which cannot be read: the line is not valid UTF-8; what Excel calls CSV may be turned into it by iconv -f WINDOWS-1252 -t UTF-8",
				"line 3: the line is not valid UTF-8; what Excel calls CSV may be turned into it by iconv -f WINDOWS-1252 -t UTF-8",
				`line 4: p 4 en 2020-01-01T00:00:00Z text="kept" author=anonymous/Anonymous`}},
		{"pairs of JSON are characters, and a row with half of one is lost whatever name it stands under",
			reviewfile.Options{Format: reviewfile.JSONLines, Language: "en"},
			`{"product":"p","rating":5,"text":"\ud83d\ude00 \\uD83D","date":"2020-01-01"}` + "\n" +
				`{"product":"p","rating":5,"text":"x","date":"2020-01-01","other":["\ude00"]}`,
			[]string{
				`line 1: p 5 en 2020-01-01T00:00:00Z text="😀 \\uD83D" author=anonymous/Anonymous`,
				`line 2: the line holds half of a character, an escape such as \uD83D without its other half (the text may have been cut there): write the whole character, or remove the half`}},
		{"numbers and strings of JSON are both read, nulls are absent",
			reviewfile.Options{Format: reviewfile.JSONLines, Language: "en"},
			`{"asin": 12345678901234567890, "overall": 5.0, "reviewText": "a", "summary": null, "unixReviewTime": 1252800000, "reviewerID": "A1", "reviewerName": "Jo &amp; Al"}` + "\n" +
				`{"overall": "4", "asin": "B2", "reviewText": "b", "summary": "s", "unixReviewTime": "1252800000"}`,
			[]string{
				`line 1: 12345678901234567890 5 en 2009-09-13T00:00:00Z text="a" author=A1/Jo & Al`,
				`line 2: B2 4 en 2009-09-13T00:00:00Z title="s" text="b" author=anonymous/Anonymous`}},
		{"an unknown name of a row of JSON matters to no other",
			reviewfile.Options{Format: reviewfile.JSONLines},
			"{\"product\":\"p\",\"stars\":5,\"lang\":\"en\",\"text\":\"a\",\"date\":\"2020-01-01\"}\n\n  \n{\"extra\":{\"deep\":[1]},\"product\":\"p\",\"stars\":5,\"lang\":\"en\",\"text\":\"b\",\"date\":\"2020-01-01\"}\n",
			[]string{
				`line 1: p 5 en 2020-01-01T00:00:00Z text="a" author=anonymous/Anonymous`,
				`line 4: p 5 en 2020-01-01T00:00:00Z text="b" author=anonymous/Anonymous`}},
		{"a byte order mark, CRLF, empty lines and a last line without an end change nothing",
			reviewfile.Options{Format: reviewfile.TSV},
			"\ufeff" + strings.ReplaceAll(amazonHeader, "\n", "\r\n") + "\r\n\nUS\tR1\tB1\t5\tT\tx\t2015-08-20\t9\r\nUS\tR2\tB1\t5\tT\tx\t2015-08-20\t9",
			[]string{
				`line 4: B1 5 en 2015-08-20T00:00:00Z title="T" text="x" author=9/Anonymous`,
				`line 5: B1 5 en 2015-08-20T00:00:00Z title="T" text="x" author=9/Anonymous`}},
		{"an empty TSV has no rows", reviewfile.Options{Format: reviewfile.TSV}, "", nil},
		{"an empty CSV has no rows", reviewfile.Options{Format: reviewfile.CSV}, "\n\n", nil},
		{"an empty JSON Lines has no rows", reviewfile.Options{Format: reviewfile.JSONLines}, "", nil},
		{"a header alone has no rows", reviewfile.Options{Format: reviewfile.CSV}, csvHeader, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := readAll(iotest.OneByteReader(strings.NewReader(test.input)), test.options)
			check.Equal(t, test.want, got)
		})
	}
}

// The reasons why rows are bad. Each row has one fault.
func TestReasons(t *testing.T) {
	set := func(name, value string) string {
		values := map[string]string{"product": `"p"`, "rating": "5", "lang": `"en"`, "title": `"t"`, "text": `"secret"`, "date": `"2020-01-01"`, "author": `"a"`, "author_name": `"A"`}
		values[name] = value
		var members []string
		for _, name := range []string{"product", "rating", "lang", "title", "text", "date", "author", "author_name"} {
			if value := values[name]; value != "" {
				members = append(members, fmt.Sprintf("%q: %s", name, value))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	var input strings.Builder
	for _, line := range []string{
		set("product", ""), set("product", `""`), set("product", `"c_1"`), set("product", `"a\u0000b"`), set("product", `"`+strings.Repeat("p", 129)+`"`),
		set("rating", ""), set("rating", "4.5"), set("rating", "0"), set("rating", "6"), set("rating", "-1"), set("rating", `"five"`), set("rating", "5e0"), set("rating", "[5]"), set("rating", "true"),
		set("lang", ""), set("lang", `"Klingon"`), set("lang", `"english"`),
		set("title", `"`+strings.Repeat("t", 4<<10+1)+`"`), set("title", `{"en": "t"}`),
		set("text", `"`+strings.Repeat("t", 256<<10+1)+`"`), set("text", `["a"]`),
		set("text", `"a\uD83D"`), set("text", `"\uDE00\uD83D"`), set("text", `"a&#55357;"`),
		set("date", ""), set("date", `"yesterday"`), set("date", `"02/01/2006"`), set("date", "2015"), set("date", `"1969-12-31T23:59:59Z"`), set("date", `"1970-01-01T00:00:00+01:00"`), set("date", "99999999999999999999"), set("date", "-1"), set("date", `"2021-02-29"`), set("date", `"9999-12-31T23:59:59-01:00"`), set("date", `"1439115072.25 or so"`), set("date", `"1439115072.123456789x"`), set("date", `"1439115072.+5"`),
		set("date", `"20201301120000"`), set("date", `"2020-01-01T12:00:00+24:00"`), set("date", `"2020-01-01 12:00:00 -0060"`),
		set("author", `"`+strings.Repeat("a", 129)+`"`), set("author_name", `"`+strings.Repeat("a", 513)+`"`),
		"[]", "null", "5", `{"product": "p"`, set("text", `"a"`) + "{}", "\xff", `{"text": "` + strings.Repeat("x", 4<<20) + `"}`,
		set("product", `"7.01235E+12"`), `{"id": "3E+11", ` + set("text", `"a"`)[1:], set("author", `"1.2E+12"`),
	} {
		input.WriteString(line + "\n")
	}
	reader := must.Get(reviewfile.NewReader(strings.NewReader(set("text", `""`)+"\n"+input.String()), reviewfile.Options{Format: reviewfile.JSONLines}))(t)
	if _, err := reader.Next(); err != nil {
		t.Fatalf("the row that all others are variants of is bad itself: %v", err)
	}
	var reasons strings.Builder
	for {
		_, err := reader.Next()
		if err == io.EOF {
			break
		}
		var bad *reviewfile.RowError
		if !errors.As(err, &bad) {
			t.Fatalf("%v after %s", err, reasons.String())
		}
		if strings.Contains(bad.Reason, "secret") {
			t.Errorf("a reason shows the text: %s", bad.Reason)
		}
		fmt.Fprintf(&reasons, "%s\n", bad)
	}
	goldentest.Compare(t, "testdata/reasons.golden", reasons.String())
}

// The messages of refused files.
func TestRefusals(t *testing.T) {
	var got strings.Builder
	for _, test := range []struct {
		options reviewfile.Options
		input   string
	}{
		{reviewfile.Options{}, "what\nis this\n"},
		{reviewfile.Options{Format: reviewfile.TSV}, csvHeader},
		{reviewfile.Options{Format: reviewfile.CSV}, strings.ReplaceAll(csvHeader, ",", "\t")},
		{reviewfile.Options{}, "PK\x03\x04\x14\x00\x06\x00[Content_Types].xml"},
		{reviewfile.Options{Format: reviewfile.CSV}, "PK\x03\x04\x14\x00\x00\x08mimetypeapplication/vnd.oasis.opendocument.spreadsheet"},
		{reviewfile.Options{}, "PK\x03\x04\x14\x00reviews.csv"},
		{reviewfile.Options{}, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"},
		{reviewfile.Options{}, "\x1f\x8b\x08\x00"},
		{reviewfile.Options{}, "BZh91AY&SY"},
		{reviewfile.Options{}, "\xfd7zXZ\x00"},
		{reviewfile.Options{}, "\x28\xb5\x2f\xfd"},
		{reviewfile.Options{}, "PAR1"},
		{reviewfile.Options{}, "SQLite format 3\x00"},
		{reviewfile.Options{}, "%PDF-1.7"},
		{reviewfile.Options{}, "<!DOCTYPE html><title>Log in</title>"},
		{reviewfile.Options{}, "<?xml version=\"1.0\"?>"},
		{reviewfile.Options{}, "-- MySQL dump 10.13  Distrib 8.0.33, for Linux\n"},
		{reviewfile.Options{}, strings.Repeat("x", 257) + "ustar  "},
		{reviewfile.Options{}, "p\x00r\x00o\x00"},
		{reviewfile.Options{Format: reviewfile.CSV}, "id,product,rating,text,date\n"},
		{reviewfile.Options{Format: reviewfile.CSV}, "a,b,c\n"},
		{reviewfile.Options{Format: reviewfile.CSV, Language: "en"}, "product,rating,date\n"},
		{reviewfile.Options{Format: reviewfile.CSV, Columns: map[reviewfile.Field]string{"text": "words"}}, csvHeader},
		{reviewfile.Options{Format: reviewfile.CSV}, "product,rating,lang,text,text,date\n"},
		{reviewfile.Options{Format: reviewfile.CSV}, strings.Repeat("a,", 1000) + "a\n"},
		{reviewfile.Options{Format: reviewfile.CSV}, strings.Repeat("a,", 50) + "a\n"},
		{reviewfile.Options{Format: reviewfile.CSV}, "product,\"rating\n"},
		{reviewfile.Options{Format: reviewfile.TSV}, "\xff\xfep\x00"},
		{reviewfile.Options{Format: reviewfile.TSV}, "\xff\xfe\x00\x00p\x00\x00\x00"},
		{reviewfile.Options{}, "\x00\x00\xfe\xff\x00\x00\x00p"},
		{reviewfile.Options{}, strings.ReplaceAll(csvHeader, "\n", "\r") + "1,p,5,en,x,2020-01-01\r"},
		{reviewfile.Options{}, "{\"product\": \"p\"}\r{\"product\": \"p\"}"},
		{reviewfile.Options{Format: reviewfile.TSV}, "caf\xe9\tb\n"},
		{reviewfile.Options{Format: reviewfile.JSONLines}, `{"product_id": "p", "stars": 5, "text": "", "time": 1}`},
		{reviewfile.Options{Format: reviewfile.JSONLines}, "[\n{}]"},
		{reviewfile.Options{}, " \n  [\n{}]"},
	} {
		_, err := reviewfile.NewReader(strings.NewReader(test.input), test.options)
		if err == nil {
			t.Errorf("%.60q with %+v is not refused", test.input, test.options)
		}
		fmt.Fprintln(&got, err)
	}
	goldentest.Compare(t, "testdata/refusals.golden", got.String())
}

// The same reviews read the same in every notation, with and without a stated format.
func TestFormatsByTheirBeginning(t *testing.T) {
	const first, second = "1,cup,5,en,\"good; and cheap, too\",2015-08-20", "2,cup,4,de,gut,2015-08-21"
	const names = "id,product,rating,lang,text,date"
	quoted := func(row string) string { return `"` + strings.NewReplacer(",", `","`, "~", ",").Replace(row) + `"` }
	semicolons := strings.NewReplacer("and cheap, too", "and cheap, too", ",", ";").Replace
	want := readAll(strings.NewReader(names+"\n"+first+"\n"+second+"\n"), reviewfile.Options{Format: reviewfile.CSV})
	if len(want) != 2 || !strings.Contains(want[0], "good; and cheap, too") {
		t.Fatalf("got %q", want)
	}
	for _, row := range []struct {
		why, input string
		formats    []reviewfile.Format
	}{
		{"commas", names + "\n" + first + "\n" + second, []reviewfile.Format{"", reviewfile.CSV}},
		{"commas below empty lines", "\r\n\n" + names + "\n" + first + "\n" + second, []reviewfile.Format{""}},
		{"semicolons, as Excel writes them, with empty rows", ";;;;;\n" + semicolons(names) + "\n" + semicolons(first) + "\n;;;;;\r\n" + semicolons(second) + "\n  \n;;;;;", []reviewfile.Format{"", reviewfile.CSV}},
		{"each cell in quotes, with an empty row", quoted(names) + "\n" + quoted("1,cup,5,en,good; and cheap~ too,2015-08-20") + "\n" + quoted(",,,,,") + "\n" + quoted(second), []reviewfile.Format{"", reviewfile.CSV}},
		{"semicolons below a byte order mark, and a comma in a quoted name", "\xef\xbb\xbf" + semicolons(names) + ";\"a,b,c,d,e,f,g\"\n" +
			semicolons(first) + ";\n" + semicolons(second) + ";", []reviewfile.Format{"", reviewfile.CSV}},
		{"a line for Excel, which names the separator", "\ufeffsep=;\r\n" + semicolons(names) + ";a,b,c,d,e,f,g,h\r\n" + semicolons(first) + ";\r\n" + semicolons(second) + ";", []reviewfile.Format{"", reviewfile.CSV}},
		{"the product below two byte order marks", "\ufeff\ufeff" + names[3:] + "\n" + first[2:] + "\n" + second[2:], []reviewfile.Format{"", reviewfile.CSV}},
		{"tabs, with an empty row", strings.ReplaceAll(names, ",", "\t") + "\n\t\t\t\t\t\n1\tcup\t5\ten\tgood; and cheap, too\t2015-08-20\n" + strings.ReplaceAll(second, ",", "\t"), []reviewfile.Format{"", reviewfile.TSV}},
		{
			"JSON Lines", `{"id":1,"product":"cup","rating":5,"lang":"en","text":"good; and cheap, too","date":"2015-08-20"}` + "\n" +
				`{"id":2,"product":"cup","rating":4,"lang":"de","text":"gut","date":"2015-08-21"}`, []reviewfile.Format{"", reviewfile.JSONLines},
		},
		{
			"JSON Lines below and behind white space", " \n\t" + `{"id":1,"product":"cup","rating":5,"lang":"en","text":"good; and cheap, too","date":"2015-08-20"}` + "\n" +
				` {"id":2,"product":"cup","rating":4,"lang":"de","text":"gut","date":"2015-08-21"}`, []reviewfile.Format{"", reviewfile.JSONLines},
		},
	} {
		for _, format := range row.formats {
			got := readAll(strings.NewReader(row.input), reviewfile.Options{Format: format})
			if diff := cmp.Diff(lineless(want), lineless(got)); diff != "" {
				t.Errorf("%s as %q: %s", row.why, format, diff)
			}
		}
	}
	if got := readAll(strings.NewReader(""), reviewfile.Options{}); len(got) != 0 {
		t.Errorf("nothing is read as %q", got)
	}
}

// lineless removes line numbers from rows.
func lineless(rows []string) (out []string) {
	for _, row := range rows {
		_, rest, _ := strings.Cut(row, ": ")
		out = append(out, rest)
	}
	return out
}
