package dynamo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Any draft is either refused with reasons, or becomes a comment that can be stored and read back
// unchanged.
func FuzzDraft(f *testing.F) {
	f.Add("teapot", 4, "EN-us", "Pours well", "No drips.\nNice.", "u1", "Ada", int64(1_700_000_000_000))
	f.Add("teapot", 5, "und", "", "", "u1", "A", int64(1))
	f.Add("", 0, "", "", "", "", "", int64(-1))
	f.Add("c_1", 6, "klingonisch", "\a", "\x00", "a\tb", " ", int64(0))
	f.Add("a/de/5", 1, "iw", "é", "\xff", "x", "コーヒー", int64(1)<<60)
	f.Add("0", 1, "aa", "0", "0", "0", "0", int64(1)<<48-1) // the year 10889
	f.Fuzz(func(t *testing.T, product string, rating int, language, title, text, authorID, authorName string, millis int64) {
		draft := comment.Draft{
			ProductID: product, Rating: rating, Language: language, Title: &title, Text: text,
			Author: comment.Author{ID: authorID, Name: authorName},
		}
		c, problems := draft.Comment(comment.FirstAt(time.UnixMilli(millis)))
		if len(problems) > 0 {
			checkProblems(t, problems)
			return
		}
		if !comment.IsTime(c.CreatedAt()) {
			return // a clock that is this far off is no fault of the draft
		}
		if err := c.Check(); err != nil {
			t.Fatalf("it passes, and cannot be stored: %v", err)
		}
		whole := layout.Encode(c)
		kept, err := layout.ProductOf(whole)
		if err != nil || kept != c.ProductID {
			t.Fatalf("product %q is stored as %q: %v", c.ProductID, kept, err)
		}
		back, err := layout.Decode(whole)
		if diff := cmp.Diff(c, back); err != nil || diff != "" {
			t.Fatalf("it reads back otherwise: %v %s", err, diff)
		}
		unchanged, problems := comment.Change{Rating: &rating, Language: &language, Title: &title, Text: &text}.Apply(c)
		if diff := cmp.Diff(c, unchanged); len(problems) > 0 || diff != "" {
			t.Fatalf("an edit to the same changes it: %v %s", problems, diff)
		}
	})
}

func checkProblems(t *testing.T, problems []comment.Problem) {
	t.Helper()
	for _, p := range problems {
		if p.Code == "" || p.Message == "" || len(p.Path) == 0 {
			t.Fatalf("a problem that does not say what, or where: %+v", p)
		}
	}
}
