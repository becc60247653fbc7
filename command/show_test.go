package command_test

import (
	"bytes"
	"testing"
	"time"
	"unicode"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// show prints a comment readably, however hard its author made that, with its state and the reason
// if the public does not see it. The print is in testdata/show.golden.
func TestShow(t *testing.T) {
	t.Parallel()
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		title, updated := "Très \x1b[31mbien", time.Date(2024, 6, 1, 2, 3, 4, 5e6, time.UTC)
		written := comment.PositionAt(time.Date(2024, 5, 28, 16, 19, 36, 576e6, time.UTC), [10]byte{1})
		full := comment.Comment{
			ID: comment.IDOf(written), ProductID: "cup/en", Rating: 4, Language: "pt-BR", Title: &title, Version: 3, UpdatedAt: &updated,
			Text:   "A line that goes on for so long that no terminal of eighty columns shows it in one piece.\r\n\n\tset in \u202eesrever\n日本語の長い文章は、単語の間に空白がないので、どこで改行するかを規則に従って決めなければなりません。\n",
			Author: comment.Author{ID: "\x1b]0;x\a", Name: "Zoë"},
		}
		bare := comment.Comment{
			ID: comment.IDOf(written.Next()), ProductID: "cup", Rating: 1, Language: "und", Version: 1, Author: comment.Author{ID: "7", Name: "Ada"},
		}
		long := bare
		long.ID = comment.IDOf(written.Next().Next())
		long.Text = "Keeps the coffee warm, and keeps the tea warm. It keeps the milk warm, too, which I did not want: I keep that in the fridge."
		reason, at := comment.Spam, time.Date(2024, 6, 1, 2, 3, 4, 0, time.UTC)
		rejected, waits := bare, bare
		rejected.ID, rejected.Status, rejected.Moderation = "c_01HZ0000000000000000000000", comment.Rejected, &comment.Moderation{Reason: &reason}
		waits.ID, waits.Moderation = "c_01HZ0000000000000000000001", &comment.Moderation{
			Held: []comment.HoldReason{comment.HeldEdited}, Since: at, Reports: 2,
			HeldEdit: &comment.HeldEdit{Rating: 2, Language: "en", Text: "new", At: at, Version: 2},
		}
		all := []comment.Comment{full, bare, long, rejected, waits}
		e := newExporter(t, endpoint)
		e.fill(all)
		var out bytes.Buffer
		e.out = &out
		for _, c := range all {
			if said := e.must("show", string(c.ID)); said != "" {
				t.Errorf("it said %s", said)
			}
		}
		goldentest.Compare(t, "testdata/show.golden", out.Bytes())
		for _, r := range out.String() {
			if unicode.IsControl(r) && r != '\n' {
				t.Errorf("it prints %U", r)
			}
		}
	})
}
