package pageindex

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// at returns the position with a number.
func at(n int) comment.Position {
	return comment.Position{12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

// grid is a sorted list in several cells.
type grid [][]comment.Position

func (g grid) read(_ context.Context, ranges []CellRange) ([]comment.Position, error) {
	var out []comment.Position
	for _, r := range ranges {
		out = append(out, g[r.Cell][r.Low:r.High]...)
	}
	return out, nil
}

// elements returns how many elements ranges have.
func elements(ranges []CellRange) (n int) {
	for _, r := range ranges {
		n += r.size()
	}
	return n
}

// anyGrid draws up to 5,000 positions, spread evenly over cells or not, and a part of each cell.
func anyGrid(t *rapid.T) (grid, []Range) {
	g := make(grid, rapid.IntRange(1, 30).Draw(t, "cells"))
	n := rapid.SampledFrom([]int{0, 1, 7, 100, 1000, 5000}).Draw(t, "elements")
	seed := rapid.Uint64Range(1, 1<<62).Draw(t, "seed")
	bias := rapid.IntRange(1, 4).Draw(t, "bias")
	runs := rapid.IntRange(1, 200).Draw(t, "runs")
	for i := range n {
		seed = seed*6364136223846793005 + 1442695040888963407
		cell := int(seed>>33) % len(g)
		for range bias - 1 { // more for the first cells
			seed = seed*6364136223846793005 + 1442695040888963407
			cell = min(cell, int(seed>>33)%len(g))
		}
		if runs > 100 { // long runs of one cell
			cell = i / runs % len(g)
		}
		g[cell] = append(g[cell], at(3*i+1))
	}
	low, high := rapid.IntRange(-1, 3*n+2).Draw(t, "low"), 3*n+2
	if rapid.Bool().Draw(t, "cut") {
		high = rapid.IntRange(low, high).Draw(t, "high")
	}
	cells := make([]Range, len(g))
	for i, positions := range g {
		cells[i] = Range{countBelow(positions, low), countBelow(positions, high)}
	}
	return g, cells
}

// countBelow returns the number of positions below a number.
func countBelow(positions []comment.Position, n int) int {
	index, _ := slices.BinarySearchFunc(positions, at(max(n, 0)), comment.Position.Compare)
	return index
}

// listOf returns the whole list in its order.
func listOf(g grid, cells []Range, order comment.Order) []comment.Position {
	var list []comment.Position
	for i, c := range cells {
		list = append(list, g[i][c.Low:c.High]...)
	}
	slices.SortFunc(list, comment.Position.Compare)
	if order == comment.NewestFirst {
		slices.Reverse(list)
	}
	return list
}

// Search finds the same ranks and positions as the sorted list, in few rounds.
func TestSearchFindsAsInTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, cells := anyGrid(t)
		order := rapid.SampledFrom([]comment.Order{comment.NewestFirst, comment.OldestFirst}).Draw(t, "order")
		list := listOf(g, cells, order)
		var targets []CellTarget
		for range rapid.IntRange(0, 5).Draw(t, "targets") {
			target := CellTarget{Target: Target{Rank: rapid.IntRange(0, len(list)+1).Draw(t, "rank")}}
			if n := rapid.IntRange(0, 3*5000).Draw(t, "at"); rapid.Bool().Draw(t, "by position") {
				target.At = new(at(n))
				if rapid.Bool().Draw(t, "within") {
					target.Within = within(g, n)
				}
			}
			targets = append(targets, target)
		}
		rounds := 0
		boundaries, err := Search(t.Context(), cells, order, targets, Evenly, func(ctx context.Context, ranges []CellRange) ([]comment.Position, error) {
			rounds++
			return g.read(ctx, ranges)
		})
		must.Do(t, err)
		if rounds > 12 {
			t.Errorf("%d rounds", rounds)
		}
		for i, target := range targets {
			checkBoundary(t, list, order, target, boundaries[i])
		}
	})
}

// within returns ranges of cells that contain the elements near a number.
func within(g grid, n int) (cells []Range) {
	for _, positions := range g {
		cells = append(cells, Range{countBelow(positions, n-20), countBelow(positions, n+20)})
	}
	return cells
}

func checkBoundary(t *rapid.T, list []comment.Position, order comment.Order, target CellTarget, got Boundary) {
	through := func(p comment.Position) (n int) {
		for _, element := range list {
			if c := element.Compare(p); c == 0 || (c < 0) == (order == comment.OldestFirst) {
				n++
			}
		}
		return n
	}
	want := min(target.Rank, len(list))
	if target.At != nil {
		want = through(*target.At)
	}
	if got.Rank != want || (got.After == nil) != (want == 0) {
		t.Errorf("%+v of %d: %+v, want the rank %d", target, len(list), got, want)
	}
	if got.After != nil && through(*got.After) != want {
		t.Errorf("%+v of %d: %d are before %v, want %d", target, len(list), through(*got.After), got.After, want)
	}
}

// If cells change between two rounds, any answer is possible, but the search ends.
func TestMovingCells(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		g, cells := anyGrid(t)
		calls := 0
		read := func(_ context.Context, ranges []CellRange) ([]comment.Position, error) {
			if calls++; calls > 100 {
				t.Fatal("the search does not end")
			}
			out := make([]comment.Position, elements(ranges))
			for i := range out {
				out[i] = at(rapid.IntRange(0, 1<<20).Draw(t, "position"))
			}
			slices.SortFunc(out, comment.Position.Compare)
			if rapid.Bool().Draw(t, "disordered") {
				slices.Reverse(out)
			}
			return out, nil
		}
		targets := []CellTarget{{Target: Target{Rank: len(g[0])}}, {Target: Target{At: new(at(500))}}}
		if _, err := Search(t.Context(), cells, comment.NewestFirst, targets, Evenly, read); errors.Is(err, ErrMoved) {
			moved++
		} else if err != nil {
			t.Fatal(err)
		}
	})
	if moved == 0 {
		t.Error("no contradiction was noticed")
	}
}

// A failed read ends the search.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	read := func(context.Context, []CellRange) ([]comment.Position, error) { return nil, broken }
	_, err := Search(t.Context(), []Range{{0, 9}}, comment.NewestFirst, []CellTarget{{Target: Target{Rank: 3}}}, Evenly, read)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A million elements take few rounds and few reads. The cost is the same everywhere in the list,
// and lower near its ends.
func TestRoundsOfAMillion(t *testing.T) {
	g := make(grid, 15)
	cells := make([]Range, len(g))
	for i := range 1_000_000 {
		cell := i * i % 97 % len(g)
		g[cell] = append(g[cell], at(i))
	}
	for i := range cells {
		cells[i] = Range{0, len(g[i])}
	}
	for _, row := range []struct{ rank, rounds, reads int }{{3, 1, 60}, {1000, 3, 700}, {123_456, 6, 1500}, {999_999, 2, 60}} {
		rounds, reads := 0, 0
		read := func(ctx context.Context, ranges []CellRange) ([]comment.Position, error) {
			rounds, reads = rounds+1, reads+elements(ranges)
			return g.read(ctx, ranges)
		}
		_, err := Search(t.Context(), cells, comment.NewestFirst, []CellTarget{{Target: Target{Rank: row.rank}}}, Evenly, read)
		if err != nil || rounds > row.rounds || reads > row.reads {
			t.Errorf("rank %d: %d rounds, %d reads, want at most %d and %d (%v)", row.rank, rounds, reads, row.rounds, row.reads, err)
		}
		t.Logf("rank %d: %d rounds, %d reads", row.rank, rounds, reads)
	}
}
