package pageindex_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// busy is an index whose comments change before some of its calls.
type busy struct {
	*conformance.Model
	change func()
}

func (b busy) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	b.change()
	return b.Model.Find(ctx, list, targets)
}

// Next finds the next comments of a list in order and without gaps, even while comments around them
// are added and deleted. It finds each comment that exists throughout, unless its result ends
// before it.
func TestNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, there := conformance.NewModel(), map[int]bool{}
		follows := 0
		set := func(number int, is bool) {
			follows++
			entry := pageindex.Entry{Product: "42", Position: position(number), Follows: stream.PositionOf("s", fmt.Sprint(follows))}
			if there[number] = is; is {
				entry.Cell = &comment.Cell{Language: "en", Rating: 1, Traits: comment.IsVerified}
			}
			must.Do(t, model.Apply(t.Context(), []pageindex.Entry{entry}))
		}
		for _, number := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 50).Draw(t, "comments") {
			set(number, true)
		}
		always := maps.Clone(there)
		changes := rapid.IntRange(0, 12).Draw(t, "changes")
		index := busy{model, func() {
			for ; changes > 0 && rapid.Bool().Draw(t, "changes now"); changes-- {
				number := rapid.IntRange(0, 60).Draw(t, "changed")
				set(number, rapid.Bool().Draw(t, "comes"))
				if !there[number] {
					always[number] = false
				}
			}
		}}
		list := pageindex.List{Product: "42", Filter: comment.Filter{Verified: new(true)}, Order: rapid.SampledFrom([]comment.Order{comment.NewestFirst, comment.OldestFirst}).Draw(t, "order")}
		number, n := rapid.IntRange(-1, 60).Draw(t, "from"), rapid.IntRange(1, 30).Draw(t, "n")
		var from *comment.Position
		if number >= 0 {
			from = new(position(number))
		}
		places, err := pageindex.Next(t.Context(), index, list, from, n)
		if comment.KindOf(err) == comment.Unavailable {
			return // it changes too quickly
		}
		must.Do(t, err)
		compare := func(a, b comment.Position) int { return list.Order.Compare(*comment.At(a), *comment.At(b)) }
		if !slices.IsSortedFunc(places.Positions, compare) || len(places.Positions) > n {
			t.Fatalf("%d positions, not in order or more than %d", len(places.Positions), n)
		}
		for number, is := range always {
			at := position(number)
			behind := from == nil || compare(at, *from) >= 0
			last := len(places.Positions) - 1
			reached := places.Ended || last >= 0 && compare(at, places.Positions[last]) <= 0
			if _, found := slices.BinarySearchFunc(places.Positions, at, compare); found != behind && is && reached {
				t.Fatalf("comment %d was there all the time: behind the place %t, found %t", number, behind, found)
			}
		}
	})
}

// A list that shrank before its next comments were found has not ended with them.
func TestNextOfAShrunkList(t *testing.T) {
	model, calls := conformance.NewModel(), 0
	set := func(from, to int, cell *comment.Cell, follows stream.Position) {
		for number := from; number < to; number++ {
			must.Do(t, model.Apply(t.Context(), []pageindex.Entry{{Product: "42", Position: position(number), Cell: cell, Follows: follows}}))
		}
	}
	set(0, 8, &comment.Cell{Language: "en", Rating: 1}, "1")
	shrinking := busy{model, func() {
		if calls++; calls == 2 {
			set(0, 5, nil, "2")
		}
	}}
	next, err := pageindex.Next(t.Context(), shrinking, pageindex.List{Product: "42", Order: comment.OldestFirst}, new(position(5)), 2)
	if want := []comment.Position{position(5), position(6)}; err != nil || !slices.Equal(next.Positions, want) || next.Ended {
		t.Errorf("got %+v, %v, want %v and more", next, err, want)
	}
}

func TestAfterNeighbours(t *testing.T) {
	first, last, some := comment.Position{}, comment.MaxPosition, position(7)
	for _, row := range []struct {
		why   string
		order comment.Order
		found []comment.Position
		want  *comment.Position
	}{
		{"nothing was found", comment.NewestFirst, nil, nil},
		{"the newest first", comment.NewestFirst, []comment.Position{position(9), some}, new(some.Previous())},
		{"the oldest first", comment.OldestFirst, []comment.Position{position(5), some}, new(some.Next())},
		{"nothing can be older", comment.NewestFirst, []comment.Position{first}, nil},
		{"nothing can be newer", comment.OldestFirst, []comment.Position{last}, nil},
		{"the newest of all first", comment.NewestFirst, []comment.Position{last}, new(last.Previous())},
		{"the oldest of all first", comment.OldestFirst, []comment.Position{first}, new(first.Next())},
	} {
		got := pageindex.Neighbours{Positions: row.found}.After(row.order)
		if (got == nil) != (row.want == nil) || got != nil && *got != *row.want {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}
