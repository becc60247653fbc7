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
		untrusted     bool
		reads         int
	}{
		{"any", nil, nil, false, 1},
		{"with comments", at(2023), nil, false, 1},
		{"from the newest comment on", at(2024), nil, false, 1},
		{"in the future", at(2025), nil, false, 0},
		{"in the future, of positions that may be outdated", at(2025), nil, true, 1},
		{"ending first", at(2023), at(2022), false, 0},
	} {
		q := comment.Query{Filter: comment.Filter{CreatedAfter: test.after, CreatedBefore: test.before}, Order: comment.MostHelpful}
		s := StretchOf(q)
		p := Planner{Filter: s.Links[0].Filter, Known: known}
		p.Known.Trusted = !test.untrusted
		plan := p.Take(Request{Window: s.Window(s.Links[0]), Purpose: comment.ReadPage, Want: 5})
		if len(plan.Reads) != test.reads {
			t.Errorf("%s: %d reads, want %d\n%s", test.name, len(plan.Reads), test.reads, plan)
		}
	}
}

// A window between two places has both, and those of its own between them. Past a read, it has
// those that are read later.
func TestWindowsBetweenPlaces(t *testing.T) {
	at := func(n int) comment.Place {
		return comment.Place{Key: int32(1 + n/3), Position: comment.Position{15: byte(n % 3)}}
	}
	for _, byVotes := range []bool{false, true} {
		// In the order of dates, the keys of cursors are those of another order, and do not count.
		number := func(p comment.Place) int { return int(p.Position[15]) }
		whole := Window{low: comment.Place{}, high: comment.Place{Position: at(2).Position}}
		if byVotes {
			number = func(p comment.Place) int { return int(3*(p.Key-1)) + int(p.Position[15]) }
			whole = Window{low: at(1), high: at(7), byVotes: true}
		}
		for first := range 9 {
			for last := range 9 {
				for _, descending := range []bool{false, true} {
					w := whole
					w.descending = descending
					w = w.between(new(at(first)), new(at(last)))
					past := w.Past(at(first))
					for n := range 9 {
						place := w.keyed(at(n))
						in := func(w Window) bool { return w.low.Compare(place) <= 0 && place.Compare(w.high) <= 0 }
						own := number(whole.low) <= number(place) && number(place) <= number(whole.high)
						behind, ahead := number(at(first))-number(place), number(place)-number(at(last))
						if descending {
							behind, ahead = -behind, -ahead
						}
						if in(w) != (own && behind <= 0 && ahead <= 0) || in(past) != (own && behind < 0 && ahead <= 0) {
							t.Errorf("%d from %d to %d, descending %v, by votes %v: %v, past the first %v", n, first, last, descending, byVotes, in(w), in(past))
						}
						if in(w) && w.empty() {
							t.Errorf("from %d to %d there is %d, in no window", first, last, n)
						}
					}
				}
			}
		}
	}
}
