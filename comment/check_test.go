package comment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// Every state that a comment can have passes.
func TestStatesPass(t *testing.T) {
	r := commenttest.Rand(t)
	for range 2000 {
		if c := commenttest.Moderated(r, commenttest.Nasty(r, "p")); c.Check() != nil {
			t.Fatalf("%v\n%+v\n%+v", c.Check(), c, c.Moderation)
		}
	}
}

// Each state is read back from its name.
func TestNamesOfStates(t *testing.T) {
	for status := comment.Approved; status <= comment.Withdrawn; status++ {
		if got, err := comment.ParseStatus(status.String()); got != status || err != nil {
			t.Errorf("%s is read as %s, %v", status, got, err)
		}
	}
}

// What contradicts itself, and what cannot be stored, is refused with the field that is wrong.
func TestStatesThatCannotBe(t *testing.T) {
	at := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	reason, unknown := comment.Spam, comment.RejectionReason("BAD_MOOD")
	pending := func(c *comment.Comment) {
		c.Status, c.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}, Since: at}
	}
	edited := func(c *comment.Comment) {
		c.Moderation = &comment.Moderation{
			HeldEdit: &comment.HeldEdit{Rating: 1, Language: "de", Text: "anders", At: at, Version: 2},
			Held:     []comment.HoldReason{comment.HeldEdited}, Since: at,
		}
	}
	replied := func(c *comment.Comment) {
		c.Reply = &comment.Reply{Text: strings.Repeat("é", comment.MaxReply), Name: "Shop", CreatedAt: at, Version: 1}
	}
	for _, row := range []struct {
		why    string
		from   func(*comment.Comment)
		change func(*comment.Comment)
		reason string
	}{
		{"no state", pending, func(c *comment.Comment) { c.Status = 4 }, "the state is not one of"},
		{"pending for no reason", pending, func(c *comment.Comment) { c.Moderation = nil }, "waits for a moderator without a reason"},
		{"pending for an unknown reason", pending, func(c *comment.Comment) { c.Moderation.Held[0] = "MOOD" }, "once"},
		{"twice the same reason", pending, func(c *comment.Comment) {
			c.Moderation.Held = append(c.Moderation.Held, comment.HeldLink)
		}, "once"},
		{"a time that a place in the queue does not hold", pending, func(c *comment.Comment) { c.Moderation.Since = time.Unix(-1, 0) }, "1970 to 9999"},
		{"decided, and still waiting", pending, func(c *comment.Comment) { c.Status = comment.Withdrawn }, "neither the comment nor an edit waits"},
		{"approved, and still waiting", pending, func(c *comment.Comment) { c.Status = comment.Approved }, "neither the comment nor an edit waits"},
		{"rejected for no reason", pending, func(c *comment.Comment) { c.Status = comment.Rejected }, "a rejected comment needs a reason"},
		{"rejected for an unknown reason", pending, func(c *comment.Comment) {
			c.Status, c.Moderation = comment.Rejected, &comment.Moderation{Reason: &unknown}
		}, "must be one of"},
		{"not rejected, for a reason", pending, func(c *comment.Comment) { c.Moderation.Reason = &reason }, "only a rejected comment has one"},
		{"reports below zero", pending, func(c *comment.Comment) { c.Moderation.Reports = -1 }, "number of reports"},
		{"an edit of a comment that is not approved", edited, func(c *comment.Comment) { c.Status = comment.Pending }, "only an approved comment"},
		{"an edit that waits for no reason", edited, func(c *comment.Comment) { c.Moderation.Held = nil }, "waits for a moderator without a reason"},
		{"an edit of a version that is there", edited, func(c *comment.Comment) { c.Moderation.HeldEdit.Version = 1 }, "already has 1"},
		{"an edit with a rating that cannot be", edited, func(c *comment.Comment) { c.Moderation.HeldEdit.Rating = 6 }, "the edit that waits: a rating"},
		{"an edit without a language", edited, func(c *comment.Comment) { c.Moderation.HeldEdit.Language = "" }, "the edit that waits: the language"},
		{"an edit with a time that no answer holds", edited, func(c *comment.Comment) { c.Moderation.HeldEdit.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "the edit that waits: a time"},
		{"texts that do not fit into an item together", edited, func(c *comment.Comment) {
			c.Text, c.Moderation.HeldEdit.Text = strings.Repeat("x", 200<<10), strings.Repeat("x", 200<<10)
		}, "together"},
		{"a reply without a text", replied, func(c *comment.Comment) { c.Reply.Text = "" }, "the reply is empty"},
		{"a reply that is too long", replied, func(c *comment.Comment) { c.Reply.Text += "x" }, "1001 characters"},
		{"a reply of no one", replied, func(c *comment.Comment) { c.Reply.Name = "" }, "name of who replied is empty"},
		{"a reply with a control character", replied, func(c *comment.Comment) { c.Reply.Text = "\x1b[2J" }, "control character"},
		{"a reply without a version", replied, func(c *comment.Comment) { c.Reply.Version = 0 }, "version 0 of the reply"},
		{"a reply with a time that no answer holds", replied, func(c *comment.Comment) { c.Reply.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "a time of the reply"},
	} {
		c := comment.Comment{
			ID: "c_01HZ0000000000000000000000", ProductID: "p", Rating: 4, Language: "en", Text: "fine",
			Author: comment.Author{ID: "7", Name: "Ada"}, Version: 1,
		}
		row.from(&c)
		if err := c.Check(); err != nil {
			t.Errorf("%s: before the change: %v", row.why, err)
		}
		row.change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), row.reason) {
			t.Errorf("%s: %v, want %q", row.why, err, row.reason)
		}
	}
}

// A name that shows nothing is none, whatever it is made of. An author would stand there without a
// name.
func TestNamesThatShowNothing(t *testing.T) {
	for name, shows := range map[string]bool{
		"": false, " \t\n": false, "\u00a0\u3000": false, // spaces
		"\u200b": false, "\u2060\ufeff\u00ad": false, // of no width
		"\u3164": false, "\u115f\u1160\uffa0": false, // fillers, which are letters to Unicode
		"\u2800": false, "\ufe0f": false, "\U000e0061": false, // no dots, no glyph
		"a": true, " \u200bя": true, "\u200f\u05d0": true, "김": true, "👩\u200d🌾": true, "\u2801": true,
		"\u0601": true, "\u06dd": true, "\u0301": true, // Arabic signs, which are of format to Unicode, and a mark alone
	} {
		_, ofAuthor := comment.Draft{ProductID: "p", Rating: 5, Language: "en", Author: comment.Author{ID: "a", Name: name}}.Comment(comment.Position{})
		for what, problems := range map[string][]comment.Problem{
			"name": comment.Reply{Text: "x", Name: name}.Problems(), "reply": comment.Reply{Text: name, Name: "x"}.Problems(), "author": ofAuthor,
		} {
			if got := len(problems) == 0; got != shows {
				t.Errorf("the %s %+q: %v", what, name, problems)
			}
		}
	}
}

// A headline or a text that shows nothing is none: pages would keep room for it. The fields can be
// left out, so it is no problem either.
func TestTextsThatShowNothing(t *testing.T) {
	for _, blank := range []string{"", " \t\n", "\u00a0", "\u200b"} {
		c, problems := comment.Draft{ProductID: "p", Rating: 5, Language: "en", Title: &blank, Text: blank, Author: comment.Author{ID: "a", Name: "Ada"}}.Comment(comment.Position{})
		if len(problems) > 0 || c.Title != nil || c.Text != "" {
			t.Errorf("%+q: the title %v and the text %+q, with the problems %v", blank, c.Title, c.Text, problems)
		}
		title := "A title"
		edited, problems := comment.Change{Title: &blank, Text: &blank}.Apply(comment.Comment{Title: &title, Text: "A text", Version: 1})
		if len(problems) > 0 || edited.Title != nil || edited.Text != "" {
			t.Errorf("edited to %+q: the title %v and the text %+q, with the problems %v", blank, edited.Title, edited.Text, problems)
		}
	}
	if kept, _ := (comment.Draft{Text: " x\n"}).Comment(comment.Position{}); kept.Text != " x\n" {
		t.Errorf("the text is %q, want it as it was given", kept.Text)
	}
}
