package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// mostTries is how often a lookup is attempted while its list changes. An attempt takes a few
// milliseconds, and a process writes all changes of a product in some dozens of scripts a second.
const mostTries = 20

// Find implements pageindex.Index. Each wave of reads ends with the product's version. If all waves
// see the same version, the answer is of one state; otherwise Find starts over.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	calls := 0
	for range mostTries {
		l := attempt{store: s, list: list}
		found, err := l.find(ctx, targets)
		calls += l.calls
		if errors.Is(err, pageindex.ErrMoved) {
			continue
		}
		found.Cost = pageindex.Cost{Calls: calls, Waves: calls}
		return found, s.name.Failed(err)
	}
	return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the comments of this product change too quickly to find a page by its number; use cursors meanwhile")
}

// attempt is one attempt at a lookup.
type attempt struct {
	store *Store
	list  pageindex.List
	// of is the prefix of the product's keys.
	of      string
	version string
	// cells are the cells that the filter selects, sizes their numbers of comments.
	cells []comment.Cell
	sizes []int
	calls int
}

func (l *attempt) find(ctx context.Context, targets []pageindex.Target) (pageindex.Found, error) {
	none := pageindex.Found{Boundaries: make([]pageindex.Boundary, len(targets))}
	l.calls += 2
	g, err := l.store.generations(ctx)
	if err != nil {
		return none, err
	}
	l.of = l.store.keys.of(l.list.Product, g.current)
	state, err := l.store.client.HGetAll(ctx, l.of+stateName).Result()
	if err != nil {
		return none, err
	}
	if len(state) == 0 { // the product has no comments, or a build has just ended its generation
		l.calls++
		now, err := l.store.generations(ctx)
		if err == nil && now.current != g.current {
			err = pageindex.ErrMoved
		}
		return none, err
	}
	l.version = state[fieldVersion]
	for _, field := range slices.Sorted(maps.Keys(state)) {
		cell, ok := parseCell(field)
		if !ok || !l.list.Filter.AllowsCell(cell) {
			continue
		}
		n, err := strconv.Atoi(state[field])
		if err != nil {
			return none, fmt.Errorf("%s%s: %w", l.of, stateName, err)
		}
		l.cells, l.sizes = append(l.cells, cell), append(l.sizes, n)
	}
	low, high := l.list.Filter.Range()
	if len(l.cells) == 0 || low.Compare(high) > 0 {
		return none, nil
	}
	ranges, wanted, err := l.bounds(ctx, low, high, targets)
	if err != nil {
		return pageindex.Found{}, err
	}
	var found pageindex.Found
	for i, r := range ranges {
		found.Counts.Add(l.cells[i], r.High-r.Low)
	}
	found.Boundaries, err = pageindex.Search(ctx, ranges, l.list.Order, wanted, pageindex.Evenly, l.read)
	return found, err
}

// key returns the sorted set of a cell.
func (l *attempt) key(i int) string { return l.of + cellText(&l.cells[i]) }

// wave sends reads in one pipeline, which ends with reading the version.
func (l *attempt) wave(ctx context.Context, reads func(pipe goredis.Pipeliner)) error {
	l.calls++
	var version *goredis.StringCmd
	_, err := l.store.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		reads(pipe)
		version = pipe.HGet(ctx, l.of+stateName, fieldVersion)
		return nil
	})
	if errors.Is(err, goredis.Nil) || err == nil && version.Val() != l.version {
		return pageindex.ErrMoved
	}
	return err
}

// bounds returns the range of elements of each cell that match the filter's dates, and the targets
// with the ranges of elements that may equal their positions.
func (l *attempt) bounds(ctx context.Context, low, high comment.Position, targets []pageindex.Target) ([]pageindex.Range, []pageindex.CellTarget, error) {
	ranges := make([]func() pageindex.Range, len(l.cells))
	near := make([][]func() pageindex.Range, len(targets))
	ask := func(pipe goredis.Pipeliner) {
		for i := range l.cells {
			ranges[i] = l.within(ctx, pipe, i, low, high)
			for j, target := range targets {
				if target.At != nil {
					near[j] = append(near[j], l.within(ctx, pipe, i, *target.At, *target.At))
				}
			}
		}
	}
	positions := slices.ContainsFunc(targets, func(t pageindex.Target) bool { return t.At != nil })
	if low == (comment.Position{}) && high == comment.MaxPosition && !positions {
		ask(l.store.client.Pipeline()) // it sends no commands
	} else if err := l.wave(ctx, ask); err != nil {
		return nil, nil, err
	}
	wanted := make([]pageindex.CellTarget, len(targets))
	for j, target := range targets {
		wanted[j] = pageindex.CellTarget{Target: target, Within: cellsOf(near[j])}
	}
	return cellsOf(ranges), wanted, nil
}

// within asks for the part of a cell between two positions, rounded outwards to milliseconds. The
// returned function knows it once the pipeline has been sent.
func (l *attempt) within(ctx context.Context, pipe goredis.Pipeliner, cell int, low, high comment.Position) func() pageindex.Range {
	before, until := func() int64 { return 0 }, func() int64 { return int64(l.sizes[cell]) }
	if low != (comment.Position{}) {
		before = pipe.ZCount(ctx, l.key(cell), "-inf", fmt.Sprint("(", milliseconds(low))).Val
	}
	if high != comment.MaxPosition {
		until = pipe.ZCount(ctx, l.key(cell), "-inf", fmt.Sprint(milliseconds(high))).Val
	}
	return func() pageindex.Range { return pageindex.Range{Low: int(before()), High: int(until())} }
}

// cellsOf returns the index ranges from the answers.
func cellsOf(asked []func() pageindex.Range) (out []pageindex.Range) {
	for _, answer := range asked {
		out = append(out, answer())
	}
	return out
}

// read reads elements of cells, with a command for each range.
func (l *attempt) read(ctx context.Context, ranges []pageindex.CellRange) ([]comment.Position, error) {
	var asked []*goredis.StringSliceCmd
	wanted := 0
	err := l.wave(ctx, func(pipe goredis.Pipeliner) {
		for _, r := range ranges {
			wanted += r.High - r.Low
			asked = append(asked, pipe.ZRange(ctx, l.key(r.Cell), int64(r.Low), int64(r.High-1)))
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]comment.Position, 0, wanted)
	for _, members := range asked {
		for _, member := range members.Val() {
			var p comment.Position
			copy(p[:], member)
			out = append(out, p)
		}
	}
	if len(out) != wanted {
		return nil, fmt.Errorf("%s* is damaged: its state says that it has more", l.of)
	}
	return out, nil
}
