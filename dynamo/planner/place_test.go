package planner

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// Each row is a page of 20 comments to find. Reading 32 comments costs a unit, a lookup costs 7.
func TestPlacementHasTheLowestPrice(t *testing.T) {
	const size = 20
	from := func(skip, size int) Placement { return Placement{By: comment.ByReading, Skip: skip, Size: size} }
	back := func(skip, size int) Placement {
		return Placement{By: comment.ByReading, FromEnd: true, Skip: skip, Size: size}
	}
	index := Placement{By: comment.ByIndex, Size: size}
	for _, row := range []struct {
		why         string
		rank, total int
		small       bool
		want        Placement
	}{
		{"the second page is a short way from the start", 20, -1, false, from(20, size)},
		{"as far as a lookup costs, it is read", 200, -1, false, from(200, size)},
		{"beyond that, it is looked up", 220, -1, false, index},
		{"unless the list is small", 220, -1, true, from(220, size)},
		{"though not beyond what may be skipped, whatever is believed", 260, -1, true, index},
		{"as many as may be skipped", 256, -1, true, from(256, size)},
		{"in the middle of a long list", 50_000, 100_000, false, index},
		{"the last page is a short way from the end, and shorter than others", 99_980, 99_990, false, back(0, 10)},
		{"the page before it", 99_960, 99_990, false, back(10, size)},
		{"as far from the end as a lookup costs", 99_900, 100_100, false, back(180, size)},
		{"farther from the end", 99_860, 100_100, false, index},
		{"the end is nearer", 140, 200, true, back(40, size)},
		{"the start is nearer", 60, 200, true, from(60, size)},
		{"both are equally near: the start needs no count", 100, 220, true, from(100, size)},
		{"beyond the end, it is enough to see whether there is a comment", 400, 200, true, back(0, 0)},
		{"beyond the end of a list without comments", 20, 0, true, back(0, 0)},
	} {
		got := Placing{
			Rank: row.rank, Size: size, Total: row.total, Small: row.small, MostSkip: MaxSkip, Lookup: 7,
			Through: func(n int) float64 { return float64(n) / 32 },
		}.Choose()
		if got != row.want {
			t.Errorf("%s: page behind %d of %d: %+v, want %+v", row.why, row.rank, row.total, got, row.want)
		}
	}
}

// Statistics tell how near the end of the list is, unless they may be wrong.
func TestTotalIsKnownOnlyIfItIsExact(t *testing.T) {
	stats := comment.Stats{"en": {Counts: comment.Counts{0, 0, 0, 0, 40}}, comment.OtherLanguages: {Counts: comment.Counts{1}}}
	for _, row := range []struct {
		why             string
		known           Knowledge
		filter          comment.Filter
		total, believed int
	}{
		{"nothing is known", Knowledge{}, comment.Filter{}, -1, 0},
		{"counts that may be old", Knowledge{Stats: stats}, comment.Filter{}, -1, 41},
		{"counts of the last seconds", Knowledge{Stats: stats, Trusted: true}, comment.Filter{}, 41, 41},
		{"of one language", Knowledge{Stats: stats, Trusted: true}, comment.Filter{Languages: []comment.Language{"en"}}, 40, 40},
		{"a language that shares a row", Knowledge{Stats: stats, Trusted: true}, comment.Filter{Languages: []comment.Language{"fr"}}, -1, 0},
		{"counts know no dates", Knowledge{Stats: stats, Trusted: true}, comment.Filter{CreatedAfter: new(time.Unix(0, 0))}, -1, 0},
	} {
		p := Planner{Filter: row.filter, Known: row.known}
		if p.total() != row.total || p.Total() != row.believed {
			t.Errorf("%s: %d, believed %d; want %d, believed %d", row.why, p.total(), p.Total(), row.total, row.believed)
		}
	}
}

// Few comments are skipped by the read of the page itself, unless they are large.
func TestSkipApart(t *testing.T) {
	large := Sizes{Any: ItemSize{Mean: 10 << 10}}
	if SkipApart(100, Sizes{}) || !SkipApart(101, Sizes{}) || SkipApart(6, large) || !SkipApart(7, large) {
		t.Error("100 comments, or 64 KB of them, are skipped in place")
	}
}

// A list without helpful votes is looked up by date, unless a cursor stands among helpful comments:
// they have lost their votes since.
func TestRanked(t *testing.T) {
	for _, row := range []struct {
		why     string
		trusted bool
		slice   comment.Slice
		want    comment.Order
	}{
		{"no comment has votes", true, comment.Slice{}, comment.NewestFirst},
		{"counts may be outdated", false, comment.Slice{}, comment.MostHelpful},
		{"a cursor among the others", true, comment.Slice{After: &comment.Place{}}, comment.NewestFirst},
		{"a cursor among helpful comments", true, comment.Slice{After: &comment.Place{Key: 1}}, comment.MostHelpful},
		{"a cursor before them", true, comment.Slice{Before: &comment.Place{Key: 1}}, comment.MostHelpful},
	} {
		p := Planner{Known: Knowledge{Stats: comment.Stats{"en": {Counts: comment.Counts{9}}}, Trusted: row.trusted}}
		if got := p.Ranked(comment.Query{Order: comment.MostHelpful, Slice: row.slice}); got != row.want {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
	}
}

// The expected number of other items between the wanted ones equals the average for wanted items at
// random places.
func TestBetween(t *testing.T) {
	r := commenttest.Rand(t)
	part := Part{Partition: layout.Partition{Index: layout.ByLang, Language: "de"}, Conditions: comment.Filter{Ratings: []int{1}}.Conditions()}
	for _, row := range []struct{ scanned, returned, n int }{{40, 22, 22}, {40, 30, 22}, {60, 5, 3}, {30, 10, 1}} {
		e := LastPage{cells: []cellCount{{comment.Cell{Language: "de", Rating: 1}, row.n}}, last: comment.Cell{Language: "de", Rating: 1}, full: true,
			scans: []scan{{part, row.scanned, row.returned}}}
		mean, variance, known := e.between(&part, e.count(&part))
		others := part
		others.Conditions = comment.Filter{Ratings: []int{2}}.Conditions()
		if _, _, known := e.between(&others, e.count(&others)); known {
			t.Error("a read of some ratings knows the items between those of others")
		}
		sum, squares := 0.0, 0.0
		const trials = 20000
		for range trials {
			places := r.Perm(row.scanned)[:row.returned]
			slices.Sort(places)
			between := float64(places[row.n-1] + 1 - row.n)
			sum += between / trials
			squares += between * between / trials
		}
		if measured := squares - sum*sum; !known || math.Abs(mean-sum) > 0.2 || math.Abs(variance-measured) > 0.1*measured+0.1 {
			t.Errorf("%+v: %.2f and variance %.2f, measured %.2f and %.2f", row, mean, variance, sum, measured)
		}
	}
	if _, _, known := (&LastPage{}).between(&part, 0); known {
		t.Error("a page that was not read by a partition knows what lies between there")
	}
}

// A page that is read again needs as many comments of a part as it showed: one less if the page
// ended with them, one more to see the end of the list.
func TestWantedOfTheLastPage(t *testing.T) {
	cell := comment.Cell{Language: "de", Rating: 1}
	of := Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 1}}
	other := Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 2}}
	for _, row := range []struct {
		why   string
		full  bool
		part  *Part
		share float64
		want  float64
	}{
		{"a full page ends with the part", true, &of, .5, 8},
		{"it ends with another part", true, &other, .5, 9},
		{"the part has the whole list", true, &of, 1, 9},
		{"the list ended with the page", false, &of, 1, 10},
		{"it ended, and the part has some of it", false, &of, .5, 9},
	} {
		page := LastPage{last: cell, full: row.full}
		if got, _ := page.wanted(row.part, 9, row.share); got != row.want {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}
