package markers

import (
	"context"
	"errors"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// mostTries is how often a lookup is attempted while its list changes.
const mostTries = 4

// Find implements pageindex.Index. All reads are consistent, and the header is read first and last:
// if its version is the same, the whole answer is of one state. They count for the operation of the
// context.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	m := &meter{}
	defer func() { usage.From(ctx).Consume(m.calls, m.units) }()
	for range mostTries {
		found, waves, err := s.find(ctx, list, targets, m)
		if errors.Is(err, pageindex.ErrMoved) {
			continue
		}
		found.Cost = pageindex.Cost{Calls: m.calls, Waves: waves, ReadUnits: m.units}
		return found, err
	}
	return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the comments of this product change too quickly to find a page by its number; use cursors meanwhile")
}

func (s *Store) find(ctx context.Context, list pageindex.List, targets []pageindex.Target, m *meter) (pageindex.Found, int, error) {
	none := pageindex.Found{Boundaries: make([]pageindex.Boundary, len(targets))}
	l := &attempt{store: s, list: list, chunks: map[[2]int]func() ([]comment.Position, error){}, meter: m, waves: 2}
	g, err := s.get(ctx, generationsKey(), m)
	if err != nil {
		return none, l.waves, err
	}
	l.part = generationProduct{s.table, layout.NewReader(g).OptionalText(attrCurrent), list.Product}
	h, err := s.header(ctx, l.part, m)
	if err != nil {
		return none, l.waves, err
	}
	for _, name := range h.names() {
		cell, err := layout.ParseCell(name)
		if err != nil {
			return none, l.waves, err
		}
		if h.cells[name].count > 0 && list.Filter.AllowsCell(cell) {
			l.cells, l.names, l.ratings = append(l.cells, h.cells[name]), append(l.names, name), append(l.ratings, cell.Rating)
		}
	}
	if len(l.cells) == 0 {
		return none, l.waves, nil
	}
	found, err := l.answer(ctx, targets)
	if err == nil || comment.KindOf(err) == comment.Internal {
		l.waves++
		now, again := s.header(ctx, l.part, m)
		if again == nil && now.version != h.version {
			again = pageindex.ErrMoved
		}
		err = errors.Join(again, err)
	}
	return found, l.waves, err
}

// answer finds the targets. The rank of a position is found in each cell separately; a rank is
// found across cells.
func (l *attempt) answer(ctx context.Context, targets []pageindex.Target) (found pageindex.Found, err error) {
	low, high := l.list.Filter.Range()
	if low.Compare(high) > 0 {
		return pageindex.Found{Boundaries: make([]pageindex.Boundary, len(targets))}, nil
	}
	places := []comment.Position{low, high.Next()}
	for _, t := range targets {
		var place comment.Position // the first position behind the target in ascending order; zero for a rank
		switch {
		case t.At != nil && l.list.Order.Descends():
			place = *t.At
		case t.At != nil:
			place = t.At.Next()
		}
		places = append(places, place)
	}
	indexes, err := l.indexes(ctx, places)
	if err != nil {
		return found, err
	}
	ranges, wanted := make([]pageindex.Range, len(l.cells)), make([]pageindex.CellTarget, len(targets))
	for j, t := range targets {
		wanted[j] = pageindex.CellTarget{Target: t, Within: make([]pageindex.Range, len(l.cells))}
	}
	for i := range l.cells {
		ranges[i] = pageindex.Range{Low: indexes[i][0], High: indexes[i][1]}
		found.Counts[l.ratings[i]-1] += ranges[i].High - ranges[i].Low
		for j := range targets {
			at := indexes[i][2+j]
			wanted[j].Within[i] = pageindex.Range{Low: at, High: at}
		}
	}
	found.Boundaries, err = pageindex.Search(ctx, ranges, l.list.Order, wanted, l.sample, l.read)
	return found, err
}

// indexes returns, for each cell, how many comments are below each of some positions. All comments
// are below MaxPosition.
func (l *attempt) indexes(ctx context.Context, places []comment.Position) ([][]int, error) {
	out := make([][]int, len(l.cells))
	for i := range out {
		out[i] = make([]int, len(places))
	}
	err := call.Parallel(ctx, len(l.cells)*len(places), func(ctx context.Context, n int) (err error) {
		i, j := n/len(places), n%len(places)
		switch places[j] {
		case comment.Position{}:
		case comment.MaxPosition:
			out[i][j] = l.cells[i].count
		default:
			out[i][j], err = l.below(ctx, i, places[j])
		}
		return err
	})
	if slices.ContainsFunc(places, func(at comment.Position) bool { return at != comment.Position{} && at != comment.MaxPosition }) {
		l.waves += 2
	}
	return out, err
}
