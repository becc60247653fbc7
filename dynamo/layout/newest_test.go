package layout

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// boundsModel is a model of the bounds: the cells of a product's comments by position.
type boundsModel map[comment.Position]comment.Cell

func (c boundsModel) stats() comment.Stats {
	stats := comment.Stats{}
	for _, cell := range c {
		stats.Add(cell, 1)
	}
	return stats
}

// newest returns the position of the newest comment that a filter allows, the zero Position for
// none.
func (c boundsModel) newest(filter comment.Filter) (highest comment.Position) {
	for position, cell := range c {
		if filter.AllowsCell(cell) && position.Compare(highest) > 0 {
			highest = position
		}
	}
	return highest
}

var (
	languages = []comment.Language{"ar", "de", "en", "fr"}
	epoch     = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
)

func anyCell(t *rapid.T) comment.Cell {
	return comment.Cell{Language: rapid.SampledFrom(languages).Draw(t, "language"), Rating: rapid.IntRange(1, comment.MaxRating).Draw(t, "rating")}
}

func anyPosition(t *rapid.T) comment.Position {
	at := epoch.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "millisecond")) * time.Millisecond)
	return comment.PositionAt(at, [10]byte{9: byte(rapid.IntRange(0, 3).Draw(t, "distinct"))})
}

func anyFilter(t *rapid.T) comment.Filter {
	filter, err := comment.Filter{
		Languages: rapid.SliceOfN(rapid.SampledFrom(append(languages, "nl")), 0, 3).Draw(t, "languages"),
		Ratings:   rapid.SliceOfN(rapid.IntRange(1, comment.MaxRating), 0, 4).Draw(t, "ratings"),
	}.Normalize()
	must.Do(t, err)
	return filter
}

// Whatever comments are added, deleted and moved, and however often the bounds are stored, in full
// or in short, no comment is newer than its bound, and an exact bound is the newest comment.
// Without deletions and short forms, the bound of a cell is at most a second above its newest
// comment.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds, model, tight := &Bounds{}, boundsModel{}, true
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			position := anyPosition(t)
			before, there := model[position]
			switch {
			case !there || rapid.Bool().Draw(t, "edit"):
				cell := anyCell(t)
				stats := model.stats()
				bounds.Enter(cell, stats[cell.Language].Counts[cell.Rating-1], position)
				model[position] = cell
				if there && before.Rating != cell.Rating {
					bounds.Leave(before.Rating, model.stats().Counts(comment.Filter{})[before.Rating-1], position)
				}
			default:
				delete(model, position)
				bounds.Leave(before.Rating, model.stats().Counts(comment.Filter{})[before.Rating-1], position)
			}
			tight = tight && !there
			stats, most := model.stats(), rapid.SampledFrom([]int{math.MaxInt, 90}).Draw(t, "room")
			encoded := bounds.Encode(stats, most)
			decoded := must.Get(DecodeBounds(encoded, stats))(t)
			if decoded == nil {
				decoded = &Bounds{}
			}
			tight = tight && (len(model) == 0 || encoded[1]&withCells != 0)
			bounds = decoded
			check(t, bounds, model, anyFilter(t), tight)
		}
	})
}

func check(t *rapid.T, bounds *Bounds, model boundsModel, filter comment.Filter, tight bool) {
	stats := model.stats()
	if bound, newest := bounds.Of(filter, stats), model.newest(filter); bound.Compare(newest) < 0 {
		t.Fatalf("%+v: %v is newer than the bound %v", filter, newest.Time(), bound.Time())
	} else if tight && bound.Time().Sub(newest.Time()) > time.Second {
		t.Fatalf("%+v: the bound is %v, and the newest %v", filter, bound.Time(), newest.Time())
	}
	rated := bounds.Rated(filter.Ratings)
	if newest := model.newest(comment.Filter{Ratings: filter.Ratings}); rated.Exact && rated.Position != newest || rated.Position.Compare(newest) < 0 {
		t.Fatalf("ratings %v: %+v, and the newest is %v", filter.Ratings, rated, newest)
	}
	var right Bounds
	counts := comment.Stats{}
	for _, position := range slices.SortedFunc(maps.Keys(model), comment.Position.Compare) {
		cell := model[position]
		right.Enter(cell, counts[cell.Language].Counts[cell.Rating-1], position)
		counts.Add(cell, 1)
	}
	if cell, found := bounds.Below(right.In(stats), stats); found {
		t.Fatalf("the bound of %v is reported as too low", cell)
	}
}

// Languages that share a row share its bounds.
func TestBoundsOfASharedRow(t *testing.T) {
	at := func(second int) comment.Position {
		return comment.FirstAt(epoch.Add(time.Duration(second) * time.Second))
	}
	var b Bounds
	for i, language := range []comment.Language{"de", "x-a", "x-b"} {
		b.Enter(comment.Cell{Language: language, Rating: 5}, 0, at(10*i))
	}
	b.Enter(comment.Cell{Language: "de", Rating: 4}, 0, at(50))
	stats := comment.Stats{"de": {Counts: comment.Counts{3: 1, 4: 1}}, comment.OtherLanguages: {Counts: comment.Counts{4: 2}}}
	shared := b.In(stats)
	for _, row := range []struct {
		language comment.Language
		want     int
	}{{"de", 0}, {"x-a", 20}, {"x-b", 20}, {"x-c", 20}} {
		filter := comment.Filter{Languages: []comment.Language{row.language}, Ratings: []int{5}}
		if got := shared.Of(filter, stats); got.Time().Truncate(time.Second) != at(row.want).Time() {
			t.Errorf("%s: %v, want second %d", row.language, got.Time(), row.want)
		}
	}
}

// Damaged bounds, or those of other statistics, are treated as unknown. Missing bounds are not an
// error.
func TestDecodeDamage(t *testing.T) {
	var b Bounds
	stats := comment.Stats{"de": {Counts: comment.Counts{4: 1}}, "en": {Counts: comment.Counts{0: 2, 4: 1}}}
	for i, cell := range []comment.Cell{{Language: "de", Rating: 5}, {Language: "en", Rating: 5}, {Language: "en", Rating: 1}} {
		b.Enter(cell, 0, comment.FirstAt(epoch.Add(time.Duration(i)*time.Hour)))
	}
	good, short := b.Encode(stats, math.MaxInt), b.Encode(stats, 0)
	if len(good) != 2+2*16+3*4 || len(short) != 2+2*16 {
		t.Fatalf("%d and %d bytes", len(good), len(short))
	}
	for why, row := range map[string]struct {
		stored []byte
		stats  comment.Stats
	}{
		"cut":                         {good[:len(good)-1], stats},
		"cut in a position":           {short[:len(short)-1], stats},
		"only a version":              {good[:1], stats},
		"something behind":            {append(slices.Clone(good), 0), stats},
		"something behind, in short":  {append(slices.Clone(short), 0), stats},
		"of a later version":          {append([]byte{9}, good[1:]...), stats},
		"of a rating without any":     {append([]byte{1, 1 << 1}, good[2:]...), stats},
		"of statistics of more cells": {good, comment.Stats{"de": {Counts: comment.Counts{4: 1}}, "en": {Counts: comment.Counts{0: 2, 3: 1, 4: 1}}}},
		"of statistics of fewer":      {good, comment.Stats{"en": {Counts: comment.Counts{0: 2, 4: 1}}}},
	} {
		if got, err := DecodeBounds(row.stored, row.stats); err == nil || got != nil {
			t.Errorf("%s: %+v", why, got)
		}
	}
	if got, err := DecodeBounds(nil, stats); got != nil || err != nil {
		t.Errorf("none: %+v, %v", got, err)
	}
}

// The bound of a cell is a whole second, rounded up. From 2106 on there is none.
func TestSeconds(t *testing.T) {
	for _, row := range []struct {
		at, last string
	}{
		{"2024-05-01T00:00:00Z", "2024-05-01T00:00:00.999Z"},
		{"2024-05-01T00:00:00.999Z", "2024-05-01T00:00:00.999Z"},
		{"2106-02-07T06:28:13.5Z", "2106-02-07T06:28:13.999Z"},
		{"2106-02-07T06:28:14Z", comment.MaxPosition.Time().Format(time.RFC3339Nano)},
		{"3000-01-01T00:00:00Z", comment.MaxPosition.Time().Format(time.RFC3339Nano)},
	} {
		at := must.Get(time.Parse(time.RFC3339Nano, row.at))(t)
		last := secondsOf(comment.PositionAt(at, [10]byte{0xff})).last()
		if got := last.Time().Format(time.RFC3339Nano); got != row.last {
			t.Errorf("%s: the last is %s, want %s", row.at, got, row.last)
		}
	}
}
