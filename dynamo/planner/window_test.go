package planner

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Comments with helpful votes are not read for dates without comments: ranges that end before they
// begin, and dates after the newest comment, if that is known.
func TestNothingIsReadForDatesWithoutComments(t *testing.T) {
	at := func(year int) *time.Time { return new(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) }
	cell := comment.Cell{Language: "en", Rating: 5, Traits: comment.IsHelpful}
	var row comment.Row
	row.Add(cell, 9)
	var newest layout.Bounds
	newest.Enter(cell, 0, comment.FirstAt(*at(2024)))
	known := Knowledge{Stats: comment.Stats{"en": row}, Trusted: true, Newest: &newest}
	for _, test := range []struct {
		name          string
		after, before *time.Time
		reads         int
	}{
		{"any", nil, nil, 1},
		{"with comments", at(2023), nil, 1},
		{"in the future", at(2025), nil, 0},
		{"ending first", at(2023), at(2022), 0},
	} {
		q := comment.Query{Filter: comment.Filter{CreatedAfter: test.after, CreatedBefore: test.before}, Order: comment.MostHelpful}
		s := StretchOf(q)
		p := Planner{Filter: s.Links[0].Filter, Known: known}
		plan := p.Take(Request{Window: s.Window(s.Links[0]), Purpose: comment.ReadPage, Want: 5})
		if len(plan.Reads) != test.reads {
			t.Errorf("%s: %d reads, want %d\n%s", test.name, len(plan.Reads), test.reads, plan)
		}
	}
}
