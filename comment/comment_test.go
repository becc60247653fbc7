package comment_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

func TestCheckProductID(t *testing.T) {
	for _, row := range []struct {
		id  string
		ok  bool
		why string
	}{
		{"42", true, "a number of the shop"},
		{"B00NQXC2YU/de/5", true, "slashes do not disturb: languages hold none"},
		{"コーヒー", true, "any script"},
		{strings.Repeat("x", 128), true, "as long as it may be"},
		{"", false, "empty"},
		{strings.Repeat("x", 129), false, "a byte too long"},
		{"c_42", false, "would pass for the id of a comment"},
		{"author:customer:42", false, "would pass for the id of an author"},
		{"author", true, "no id of an author"},
		{"a\x00b", false, "control character"},
		{"a\u0085b", false, "control character beyond ASCII"},
		{"a\xffb", false, "not UTF-8"},
	} {
		if err := comment.CheckProductID(row.id); (err == nil) != row.ok {
			t.Errorf("%q: %v: %s", row.id, err, row.why)
		}
	}
}

func TestCheck(t *testing.T) {
	good := comment.Comment{
		ID: comment.IDOf(comment.Position{}), ProductID: "42", Rating: 5, Language: "en", Text: "Fine.",
		Author: comment.Author{ID: "7", Name: "Ada"}, Version: 1,
	}
	must.Do(t, good.Check())
	most := good
	most.Votes, most.UpdatedAt = comment.VoteCounts{Helpful: comment.MaxVotes, NotHelpful: comment.MaxVotes}, new(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := most.Check(); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	for why, spoil := range map[string]func(*comment.Comment){
		"rating":      func(c *comment.Comment) { c.Rating = 6 },
		"language":    func(c *comment.Comment) { c.Language = "" },
		"text":        func(c *comment.Comment) { c.Text = strings.Repeat("x", comment.MaxTextBytes+1) },
		"UTF-8":       func(c *comment.Comment) { c.Text = "\xff" },
		"title":       func(c *comment.Comment) { empty := ""; c.Title = &empty },
		"author's id": func(c *comment.Comment) { c.Author.ID = "" },
		"name":        func(c *comment.Comment) { c.Author.Name = "" },
		"product id":  func(c *comment.Comment) { c.ProductID = "" },
		"a time":      func(c *comment.Comment) { c.ID = comment.IDOf(comment.MaxPosition) },
		"time":        func(c *comment.Comment) { late := time.UnixMilli(math.MaxInt64); c.UpdatedAt = &late },
		"version":     func(c *comment.Comment) { c.Version = math.MaxInt32 + 1 },
		"version 0":   func(c *comment.Comment) { c.Version = 0 },
		"name holds":  func(c *comment.Comment) { c.Author.Name = "Ada\x1b[2J" },
		"id holds":    func(c *comment.Comment) { c.Author.ID = "7\u0085" },
		"text holds":  func(c *comment.Comment) { c.Text = "a\r\nb" },
		"title holds": func(c *comment.Comment) { c.Title = new("\x00") },
		"newline":     func(c *comment.Comment) { c.ProductID = "4\n2" },
		"votes":       func(c *comment.Comment) { c.Votes.NotHelpful = comment.MaxVotes + 1 },
		"of votes":    func(c *comment.Comment) { c.ImportedVotes.Helpful = -1 },
		"address":     func(c *comment.Comment) { c.Media = []comment.Media{{Path: "../a.jpg"}} },
		"rejected":    func(c *comment.Comment) { c.Moderation = &comment.Moderation{RejectedEdit: -1} },
		"edit":        func(c *comment.Comment) { c.Moderation = &comment.Moderation{RejectedEdit: math.MaxInt32 + 1} },
	} {
		bad := good
		spoil(&bad)
		if err := bad.Check(); comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestKindOf(t *testing.T) {
	known := comment.Errorf(comment.Throttled, "too busy")
	for _, row := range []struct {
		err  error
		want comment.Kind
	}{
		{known, comment.Throttled},
		{fmt.Errorf("reading: %w", known), comment.Throttled},
		{&comment.Error{Kind: comment.Timeout, Message: "late", Cause: known}, comment.Timeout},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), comment.Timeout},
		{context.Canceled, comment.Canceled},
		{errors.New("surprise"), comment.Internal},
	} {
		if got := comment.KindOf(row.err); got != row.want {
			t.Errorf("%v is of kind %d, want %d", row.err, got, row.want)
		}
	}
}

// One is said in the singular.
func TestAmount(t *testing.T) {
	for n, want := range map[int]string{0: "0 comments", 1: "1 comment", 12: "12 comments"} {
		if got := comment.Amount(n, "comment"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
