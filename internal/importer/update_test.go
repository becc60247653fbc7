package importer

import (
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/reviewfile"
)

func TestUpdating(t *testing.T) {
	title, spam := "Nice", comment.Spam
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before := comment.Comment{
		ID: "c_01HZ0000000000000000000000", ProductID: "cup", Rating: 4, Language: "en", Title: &title, Text: "Good.", Version: 1,
		Author: comment.Author{ID: "ada", Name: "Ada", Imported: true}, Status: comment.Pending, Verified: true,
		Media: []comment.Media{{Path: "a.webp"}}, Reply: &comment.Reply{Text: "Thanks.", Name: "Shop", CreatedAt: at, Version: 1},
		Votes: comment.VoteCounts{Helpful: 3},
	}
	row := comment.Comment{ID: before.ID, ProductID: "cup", Rating: 2, Language: "fr", Text: "Bon.", Version: 1, Author: before.Author}
	changed := before
	changed.Rating, changed.Language, changed.Title, changed.Text = 2, "fr", nil, "Bon."
	for _, test := range []struct {
		why    string
		fields []reviewfile.Field
		row    func(*comment.Comment)
		want   func(*comment.Comment)
	}{
		{"fields without a column stay, and so do votes", nil, func(*comment.Comment) {}, func(*comment.Comment) {}},
		{"an empty status is approved, as in an import", []reviewfile.Field{reviewfile.Status}, func(*comment.Comment) {},
			func(c *comment.Comment) { c.Status = comment.Approved }},
		{"a status has its reason", []reviewfile.Field{reviewfile.Status},
			func(c *comment.Comment) {
				c.Status, c.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
			},
			func(c *comment.Comment) {
				c.Status, c.Moderation = comment.Rejected, &comment.Moderation{Reason: &spam}
			}},
		{"empty columns empty the fields", []reviewfile.Field{reviewfile.Verified, reviewfile.Media, reviewfile.Reply}, func(*comment.Comment) {},
			func(c *comment.Comment) { c.Verified, c.Media, c.Reply, c.ReplyDeletion = false, nil, nil, 2 }},
		{"another reply is the next version", []reviewfile.Field{reviewfile.Reply},
			func(c *comment.Comment) {
				c.Reply = &comment.Reply{Text: "Merci.", Name: "Shop", CreatedAt: at, Version: 1}
			},
			func(c *comment.Comment) {
				c.Reply = &comment.Reply{Text: "Merci.", Name: "Shop", CreatedAt: at, Version: 2}
			}},
		{"the same reply is no change", []reviewfile.Field{reviewfile.Reply},
			func(c *comment.Comment) {
				c.Reply = &comment.Reply{Text: "Thanks.", Name: "Shop", CreatedAt: at, Version: 1}
			}, func(*comment.Comment) {}},
	} {
		has := func(f reviewfile.Field) bool { return slices.Contains(test.fields, f) }
		row, want := row, changed
		test.row(&row)
		test.want(&want)
		check.Equal(t, want, Updating(has)(before, row), test.why)
	}
	reported := before
	reported.Status, reported.Moderation = comment.Approved, &comment.Moderation{Reports: 2}
	row.Status = comment.Pending
	row = row.InQueue()
	has := func(f reviewfile.Field) bool { return f == reviewfile.Status }
	if got := Updating(has)(reported, row); got.Moderation.Reports != 2 || len(got.Moderation.Held) == 0 || row.Moderation.Reports != 0 {
		t.Errorf("one that was reported, and waits by the file: %+v", got.Moderation)
	}
}
