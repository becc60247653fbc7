package command_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// show prints a comment readably, however hard its author made that; the print is in
// testdata/show.golden.
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
		e := newExporter(t, endpoint)
		e.fill([]comment.Comment{full, bare, long})
		var out bytes.Buffer
		e.out = &out
		for _, c := range []comment.Comment{full, bare, long} {
			if said := e.must("show", string(c.ID)); said != "" {
				t.Errorf("it said %s", said)
			}
		}
		compareGolden(t, "testdata/show.golden", out.Bytes())
		for _, r := range out.String() {
			if unicode.IsControl(r) && r != '\n' {
				t.Errorf("it prints %U", r)
			}
		}
	})
}

// A comment that the public does not see is printed with its state and the reason.
func TestShowOfStates(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	at := time.Date(2024, 6, 1, 2, 3, 4, 0, time.UTC)
	reason := comment.Spam
	rejected := comment.Comment{
		ID: "c_01HZ0000000000000000000000", ProductID: "cup", Rating: 1, Language: "en", Version: 1, Author: comment.Author{ID: "7", Name: "Ada"},
		Status: comment.Rejected, Moderation: &comment.Moderation{Reason: &reason},
	}
	waits := rejected
	waits.ID, waits.Status = "c_01HZ0000000000000000000001", comment.Approved
	waits.Moderation = &comment.Moderation{
		Held: []comment.HoldReason{comment.HeldEdited}, Since: at, Reports: 2,
		HeldEdit: &comment.HeldEdit{Rating: 2, Language: "en", Text: "new", At: at, Version: 2},
	}
	e.fill([]comment.Comment{rejected, waits})
	for id, want := range map[comment.ID][]string{
		rejected.ID: {"status    rejected: SPAM\n"},
		waits.ID:    {"waits     since 2024-06-01 02:03:04.000 UTC: [EDIT]\n", "edit      version 2 waits, of 2024-06-01", "reports   2\n"},
	} {
		var out bytes.Buffer
		e.out = &out
		e.must("show", string(id))
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s lacks %q:\n%s", id, text, out.String())
			}
		}
	}
}

func TestShowOfNothing(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	var out bytes.Buffer
	e.out = &out
	for id, want := range map[string]string{
		"c_01HZ0000000000000000000000": "1 talkback: there is no comment c_01HZ0000000000000000000000, or no longer\n",
		"cup":                          "2 talkback: \"cup\" is not the id of a comment: these start with \"c_\"\n",
	} {
		status, said := e.run(t.Context(), "show", id)
		if diff := cmp.Diff(want, fmt.Sprint(status, " ", said)); status == 0 || diff != "" || out.Len() > 0 {
			t.Errorf("status %d, %s%s", status, diff, strings.TrimSpace(out.String()))
		}
	}
}
