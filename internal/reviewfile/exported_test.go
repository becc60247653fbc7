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
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

func appended(t must.TB, comments ...comment.Comment) (out []byte) {
	for _, c := range comments {
		out = must.Get(reviewfile.Append(out, c))(t)
	}
	return out
}

// Each comment is one line, and reads back unchanged.
func TestExportedLinesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := make([]comment.Comment, 1+r.IntN(5))
		for i := range want {
			want[i] = commenttest.Moderated(r, commenttest.Nasty(r, "a/en \"5\""))
		}
		lines := appended(t, want...)
		if got := bytes.Count(lines, []byte("\n")); got != len(want) {
			t.Fatalf("%d lines for %d comments", got, len(want))
		}
		reader := must.Get(reviewfile.NewReader(bytes.NewReader(lines), reviewfile.Options{Format: reviewfile.JSONLines, Restore: true}))(t)
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
	full := bare
	reason, at := comment.Spam, time.Date(2024, 6, 1, 0, 0, 0, 5e6, time.UTC)
	full.Status, full.Reply = comment.Rejected, &comment.Reply{Text: "Thanks", Name: "Shop", CreatedAt: at, Version: 1}
	full.Moderation = &comment.Moderation{Reason: &reason}
	waits := bare
	waits.Moderation = &comment.Moderation{
		Reports: 3, RejectedEdit: 7, Held: []comment.HoldReason{comment.HeldEdited, comment.HeldReported}, Since: at,
		HeldEdit: &comment.HeldEdit{Rating: 1, Language: "de", Text: "anders", At: at, Version: 2},
	}
	const want = `{"talkback":2,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":"A <b> & \"c\"","text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":"2024-05-29T01:02:03.004Z","version":3}
{"talkback":2,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":null,"text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":1}
{"talkback":2,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":null,"text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":1,"status":"REJECTED","reason":"SPAM","reply":{"text":"Thanks","name":"Shop","createdAt":"2024-06-01T00:00:00.005Z","updatedAt":null,"version":1}}
{"talkback":2,"id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"pt-BR","title":null,"text":" &amp;<br />\n","author":"7","authorName":"Ada ","authorImported":false,"createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":1,"held":["EDIT","REPORTED"],"heldSince":"2024-06-01T00:00:00.005Z","heldEdit":{"rating":1,"language":"de","title":null,"text":"anders","at":"2024-06-01T00:00:00.005Z","version":2},"rejectedEdit":7,"reports":3}
`
	check.Equal(t, want, string(appended(t, exportedComment(), bare, full, waits)))
}

// Where complete lines are required, a line that lacks some of the table's values is refused, even
// after complete ones.
func TestPartialLines(t *testing.T) {
	partial := must.Get(reviewfile.AppendPartial(nil, exportedComment()))(t)
	whole := appended(t, exportedComment())
	read := func(lines []byte, whole bool) error {
		reader, err := reviewfile.NewReader(bytes.NewReader(lines), reviewfile.Options{Format: reviewfile.JSONLines, Restore: true, Whole: whole})
		for err == nil {
			_, err = reader.Next()
		}
		return err
	}
	if err := read(append(partial, whole...), false); err != io.EOF {
		t.Error(err)
	}
	for _, lines := range [][]byte{partial, append(bytes.Repeat(whole, 200), partial...)} {
		if err := read(lines, true); err == nil || !strings.Contains(err.Error(), "take a file of talkback export --all") {
			t.Error(err)
		}
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
		{`"talkback":2`, `"talkback":1`, "", "an export of an earlier release"},
		{`"talkback":2`, `"talkback":3`, "use a newer one", "the form of a later version"},
		{`"talkback":2`, `"talkback":0`, "use a newer one", "the form of no version"},
		{`"talkback":2`, `"talkback":1.5`, "not a whole number", "no version at all"},
		{`"version":3`, `"version":3,"status":"APPROVED","reports":null`, "", "said what goes without saying"},
		{`"version":3`, `"version":3,"status":"PENDING"`, "", "pending, and not said why: by the policy"},
		{`"version":3`, `"version":3,"status":"LOST"`, "a state is one of", "no state"},
		{`"version":3`, `"version":3,"status":1`, "status is of another kind", "a number for a state"},
		{`"version":3`, `"version":3,"status":"REJECTED"`, "a rejected comment needs a reason", "rejected for no reason"},
		{`"version":3`, `"version":3,"status":"REJECTED","reason":"MOOD"`, "must be one of", "rejected for an unknown reason"},
		{`"version":3`, `"version":3,"status":"PENDING","held":["MOOD"],"heldSince":"2024-05-29"`, "must be one of", "held for an unknown reason"},
		{`"version":3`, `"version":3,"status":"PENDING","held":["LINK"]`, "heldSince is missing", "held since no time"},
		{`"version":3`, `"version":3,"held":["LINK"],"heldSince":"2024-05-29"`, "neither the comment nor an edit waits", "held and approved"},
		{`"version":3`, `"version":3,"held":"LINK"`, "held is of another kind", "a text for a list"},
		{`"version":3`, `"version":3,"heldEdit":{"rating":1,"language":"de","text":"x","at":"2024-05-29","version":4}`, "", "an edit that waits since it was made"},
		{`"version":3`, `"version":3,"heldEdit":{"rating":1,"language":"de","text":"x","at":"2024-05-29","version":3}`, "already has 3", "an edit of a version that is there"},
		{`"version":3`, `"version":3,"heldEdit":{"rating":1,"language":"de","text":"x","version":4}`, "heldEdit.at is missing", "an edit of no time"},
		{`"version":3`, `"version":3,"heldEdit":{"rating":1.5}`, "rating is of another kind", "an edit with half a star"},
		{`"version":3`, `"version":3,"reply":{"text":"x","name":"Shop","createdAt":"2024-05-29","version":1}`, "", "a reply"},
		{`"version":3`, `"version":3,"reply":{"text":"x","name":"","createdAt":"2024-05-29","version":1}`, "name of who replied is empty", "a reply of no one"},
		{`"version":3`, `"version":3,"reply":{"text":"x","name":"Shop","createdAt":"soon","version":1}`, "reply.createdAt: ", "a reply of no time"},
		{`"version":3`, `"version":3,"rejectedEdit":2`, "", "an edit that was rejected"},
		{`"version":3`, `"version":3,"rejectedEdit":-1`, "edit that was rejected", "an edit below zero that was rejected"},
		{`"version":3`, `"version":3,"rejectedEdit":2147483648`, "edit that was rejected", "a rejected edit that no answer can hold"},
		{`"version":3`, `"version":3,"reports":-1`, "number of reports", "reports below zero"},
		{`"version":3`, `"version":3,"votes":-7`, "the number of votes is not 0 to", "votes below zero"},
		{`"version":3`, `"version":3,"votes":"7"`, "its votes is of another kind", "a text for votes"},
		{`"version":3`, `"version":3,"verified":"yes"`, "its verified is of another kind", "a text for what was verified"},
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
		{`"talkback":2,`, ``, "import this one without --restore", "a line that says nothing of an export"},
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

// A file that uses a member of that name for another purpose is a file of reviews like any other.
// The ID of a comment does not make a line an exported one either, since the text may have been
// changed.
func TestLinesThatLookLikeAnExport(t *testing.T) {
	const file = `{"talkback":"nice","id":"c_01HZ0000000000000000000000","product":"p","rating":4,"language":"en","text":" a &amp; b ","createdAt":"2024-05-01"}`
	got := readAll(strings.NewReader(file), reviewfile.Options{Format: reviewfile.JSONLines})
	want := []string{`line 1: p 4 en 2024-05-01T00:00:00Z text="a & b" author=anonymous/Anonymous`}
	check.Equal(t, want, got)
}

// Without --restore, no line is accepted as an exported one, wherever in the file it is: any file
// can contain a line in the name of any customer.
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
