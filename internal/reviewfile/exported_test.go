package reviewfile_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/reviewfile"
)

func appended(t interface{ Fatal(...any) }, comments ...comment.Comment) []byte {
	var out []byte
	for _, c := range comments {
		var err error
		if out, err = reviewfile.Append(out, c); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Each comment is one line, and reads back unchanged.
func TestExportedLinesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := make([]comment.Comment, 1+r.IntN(5))
		for i := range want {
			want[i] = commenttest.Nasty(r, "a/en \"5\"")
		}
		lines := appended(t, want...)
		if got := bytes.Count(lines, []byte("\n")); got != len(want) {
			t.Fatalf("%d lines for %d comments", got, len(want))
		}
		reader, err := reviewfile.NewReader(bytes.NewReader(lines), reviewfile.Options{Format: reviewfile.JSONLines, Restore: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range want {
			row, err := reader.Next()
			if diff := cmp.Diff(c, row.Comment); err != nil || diff != "" {
				t.Fatalf("%v %s\n%s", err, diff, lines)
			}
		}
		if _, err := reader.Next(); err != io.EOF {
			t.Fatalf("%v, want the end", err)
		}
	})
}

func exportedComment() comment.Comment {
	title, updated := "A <b> & \"c\"", time.Date(2024, 5, 29, 1, 2, 3, 4e6, time.UTC)
	return comment.Comment{
		ID: "c_01HZ0000000000000000000000", ProductID: "p", Rating: 4, Language: "pt-BR", Title: &title, Text: " &amp;<br />\n",
		Author: comment.Author{ID: "7", Name: "Ada "}, UpdatedAt: &updated, Version: 3,
	}
}

// Other programs rely on the format of a line.
func TestExportedLine(t *testing.T) {
	bare := exportedComment()
	bare.Title, bare.UpdatedAt, bare.Version = nil, nil, 1
	const want = `{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":"A <b> & \"c\"","text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":"2024-05-29T01:02:03.004Z","version":3}
{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":null,"text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":1}
`
	if diff := cmp.Diff(want, string(appended(t, exportedComment(), bare))); diff != "" {
		t.Error(diff)
	}
}

// A line that was edited by hand is accepted as long as it does not contradict itself.
func TestExportedLinesThatWereChanged(t *testing.T) {
	line := strings.TrimSpace(string(appended(t, exportedComment())))
	for _, row := range []struct{ old, new, reason, why string }{
		{`"rating":4`, `"rating":5`, "", "another rating"},
		{`16:19:36.576Z`, `18:19:36.576+02:00`, "", "the same time elsewhere"},
		{`"language":"pt-BR"`, `"language":"pt-br"`, "", "a language is put into its canonical form"},
		{`"language":"pt-BR"`, `"language":"und-biske-1994-gb"`, "", "a language that was once taken is still"},
		{`36.576Z`, `36.577Z`, "one of the two was changed", "a time that contradicts the id"},
		{`"createdAt"`, `"written"`, "createdAt is missing", "no time"},
		{`"c_01HZ`, `"01HZ`, "not the id of a comment", "another kind of id"},
		{`"talkback":1`, `"talkback":2`, "use a newer one", "the form of a later version"},
		{`"talkback":1`, `"talkback":1.5`, "not a whole number", "no version at all"},
		{`"version":3`, `"version":0`, "version 0", "a version before the first"},
		{`"version":3`, `"version":2147483648`, "version 2147483648", "a version that no answer can hold"},
		{`"version":3`, `"version":"3"`, "not a whole number", "a text for a number"},
		{`"version":3`, `"version":2147483647`, "", "the highest version"},
		{`"Ada "`, `"Ada \u001b[2J"`, "author's name holds the control character U+001B", "a name that clears a terminal"},
		{`"author":"7"`, `"author":"7\u0000"`, "author's id holds the control character U+0000", "an id that no token can have"},
		{`"author":"7"`, `"author":""`, "author's id is empty", "no id"},
		{`&amp;<br`, `&amp;\u0085<br`, "text holds the control character U+0085", "a control character beyond ASCII"},
		{`"title":"A`, `"title":"\rA`, "title holds the control character U+000D", "a title that begins its line anew"},
		{`"product":"p"`, `"product":"author:p"`, "a product id cannot start", "a product that would pass for an author"},
		{`"talkback":1,`, ``, "import it without --restore", "a line that says nothing of an export"},
		{`"Ada "`, `"Ada \uD83D"`, "half of a character", "half of a pair"},
		{`"Ada "`, `"Ada \uD83D\uDE00"`, "", "a pair"},
		{`"rating":4`, `"rating":6`, "1 to 5 stars", "too many stars"},
		{`"text":`, `"texts":`, "text is missing", "no text"},
		{`"title":"A`, `"title":7,"x":"A`, "not a text", "a number for a text"},
		{`"authorImported":false,`, ``, "", "an export from before authors were told apart"},
		{`"authorImported":false`, `"authorImported":"no"`, "not true or false", "a text for a flag"},
		{`"pt-BR"`, `"Klingon"`, "not a language", "no language"},
		{`"2024-05-29T`, `"soon`, "updatedAt: ", "no time of an edit"},
	} {
		changed := strings.Replace(line, row.old, row.new, 1)
		reader, err := reviewfile.NewReader(strings.NewReader(line+"\n"+changed), reviewfile.Options{Format: reviewfile.JSONLines, Restore: true})
		if err != nil || changed == line {
			t.Fatalf("%s: %v", row.why, err)
		}
		_, _ = reader.Next()
		_, err = reader.Next()
		var bad *reviewfile.RowError
		if refused := errors.As(err, &bad); refused != (row.reason != "") || refused && !strings.Contains(bad.Reason, row.reason) {
			t.Errorf("%s: %v, want %q", row.why, err, row.reason)
		}
	}
}

// A file that uses a member of that name for another purpose holds reviews like any other. Nor does
// the ID of a comment make a line an exported one: the text may have been changed.
func TestLinesThatLookLikeAnExport(t *testing.T) {
	const file = `{"talkback":"nice","id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"en","text":" a &amp; b ","createdAt":"2024-05-01"}`
	got := readAll(strings.NewReader(file), reviewfile.Options{Format: reviewfile.JSONLines})
	want := []string{`line 1: p 4 en 2024-05-01T00:00:00Z text="a & b" author=anonymous/Anonymous`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Without being asked for, no line is taken as an exported one, wherever in the file it stands: any
// file can hold one in the name of any customer.
func TestExportedLinesAreRestoredByNameOnly(t *testing.T) {
	line := string(appended(t, exportedComment()))
	_, err := reviewfile.NewReader(strings.NewReader(line), reviewfile.Options{Format: reviewfile.JSONLines})
	if err == nil || !strings.Contains(err.Error(), "--restore") {
		t.Errorf("a file of them: %v", err)
	}
	const review = `{"id":"r","product":"p","rating":4,"language":"en","text":"a","createdAt":"2024-05-01"}` + "\n"
	got := readAll(strings.NewReader(strings.Repeat(review, 150)+line), reviewfile.Options{Format: reviewfile.JSONLines})
	if len(got) != 151 || !strings.Contains(got[150], "--restore") || strings.Contains(got[149], "--restore") {
		t.Errorf("one behind reviews: %d rows, %s", len(got), got[len(got)-1])
	}
}
