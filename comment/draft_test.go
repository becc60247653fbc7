package comment_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
)

// A field at its limit is taken, and one that is longer by a character is not.
func TestLimitsOfDrafts(t *testing.T) {
	for field, row := range map[string]struct {
		most int
		set  func(*comment.Draft, string)
	}{
		"text":        {10_000, func(d *comment.Draft, text string) { d.Text = text }},
		"title":       {200, func(d *comment.Draft, text string) { d.Title = &text }},
		"author name": {100, func(d *comment.Draft, text string) { d.Author.Name = text }},
		"author id":   {comment.MaxIDBytes, func(d *comment.Draft, text string) { d.Author.ID = text }},
	} {
		for _, length := range []int{row.most, row.most + 1} {
			draft := comment.Draft{ProductID: "p", Rating: 5, Language: "en", Author: comment.Author{ID: "a", Name: "A"}}
			row.set(&draft, strings.Repeat("x", length))
			_, problems := draft.Comment(comment.Position{})
			var got []string
			for _, p := range problems {
				got = append(got, strings.Join(p.Path, " "))
			}
			var want []string
			if length > row.most {
				want = []string{field}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of %d: problems of %v, want %v", field, length, got, want)
			}
		}
	}
}

// A form sends all fields back: those that keep their value pass, even if no draft may have it.
func TestChangesOfAnImportedComment(t *testing.T) {
	long, tag, title := strings.Repeat("x", 20_000), "und-biske-1994-gb", strings.Repeat("x", 300)
	imported := comment.Comment{Language: comment.Language(tag), Title: &title, Text: long, Rating: 3, Version: comment.MaxVersion - 1}
	same := comment.Change{Rating: new(4), Language: &tag, Title: &title, Text: &long}
	if after, problems := same.Apply(imported); len(problems) > 0 || after.Rating != 4 || after.Text != long {
		t.Errorf("nothing but the rating changed: %v", problems)
	}
	longer := long + "x"
	if _, problems := (comment.Change{Text: &longer}).Apply(imported); len(problems) != 1 {
		t.Errorf("the text became longer: %v", problems)
	}
	imported.Version = comment.MaxVersion
	if _, problems := same.Apply(imported); len(problems) != 1 {
		t.Errorf("there is no version above the highest: %v", problems)
	}
}

// No edit gets the version of an earlier one, be it held or rejected.
func TestNextVersion(t *testing.T) {
	for _, row := range []struct {
		moderation *comment.Moderation
		want       int
	}{
		{nil, 4},
		{&comment.Moderation{HeldEdit: &comment.HeldEdit{Version: 5}}, 6},
		{&comment.Moderation{RejectedEdit: 6}, 7},
		{&comment.Moderation{HeldEdit: &comment.HeldEdit{Version: 8}, RejectedEdit: 6}, 9},
	} {
		if got := (comment.Comment{Version: 3, Moderation: row.moderation}).NextVersion(); got != row.want {
			t.Errorf("version %d is next to %+v, want %d", got, row.moderation, row.want)
		}
	}
}
