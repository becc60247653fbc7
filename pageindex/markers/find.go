package markers

import (
	"context"
	"errors"
	"slices"
	"sync"

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
	own := new(usage.Operation)
	defer func() { usage.From(ctx).Consume(own.Reads().Calls, own.Units()) }()
	for range mostTries {
		found, waves, err := s.find(usage.With(ctx, own), list, targets)
		if errors.Is(err, pageindex.ErrMoved) {
			continue
		}
		found.Cost = pageindex.Cost{Calls: own.Reads().Calls, Waves: waves, ReadUnits: own.Units()}
		return found, err
	}
	return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the comments of this product change too quickly to find a page by its number; use cursors meanwhile")
}

func (s *Store) find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, int, error) {
	none := pageindex.Found{Boundaries: make([]pageindex.Boundary, len(targets))}
	l := &attempt{store: s, list: list, chunks: map[[2]int]func() ([]comment.Position, error){}, waves: 2}
	g, err := s.generations(ctx)
	if err != nil {
		return none, l.waves, err
	}
	l.part = generationProduct{s.table, g.current, list.Product}
	h, err := s.header(ctx, l.part)
	if err != nil {
		return none, l.waves, err
	}
	if h.version == "" { // the product has no comments, or a build has just ended its generation
		l.waves++
		now, err := s.generations(ctx)
		if err == nil && now.current != g.current {
			err = pageindex.ErrMoved
		}
		return none, l.waves, err
	}
	for _, name := range h.names() {
		cell, err := layout.ParseCell(name)
		if err != nil {
			return none, l.waves, err
		}
		if h.cells[name].count > 0 && list.Filter.AllowsCell(cell) {
			l.cells = append(l.cells, stampedCell{h.cells[name], name, cell})
		}
	}
	if len(l.cells) == 0 {
		return none, l.waves, nil
	}
	found, err := l.answer(ctx, targets)
	if err == nil || comment.KindOf(err) == comment.Internal {
		l.waves++
		now, again := s.header(ctx, l.part)
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
		found.Counts.Add(l.cells[i].cell, ranges[i].High-ranges[i].Low)
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

// errUnstamped is the error for places that are being stamped again.
var errUnstamped = comment.Errorf(comment.Unavailable, "the page markers of this part of the list are being written anew after a change; ask again in a moment, or use cursors")

// stampedCell is a cell, its state and its name in keys.
type stampedCell struct {
	state
	name string
	cell comment.Cell
}

// attempt is one attempt at a lookup.
type attempt struct {
	store *Store
	part  generationProduct
	list  pageindex.List
	// cells are the cells that the filter selects.
	cells []stampedCell
	// chunks are functions that read stamps, each chunk once, by cell and number of the chunk.
	chunks map[[2]int]func() ([]comment.Position, error)
	mu     sync.Mutex // guards chunks
	waves  int
}

// readThrough is how many comments without a stamp may be read through, in multiples of perStamp.
// There are more only while a cell is stamped again.
const readThrough = 4

// stamps reads a chunk of stamps of a cell. Concurrent callers share one read. It leaves out
// invalid stamps.
func (l *attempt) stamps(ctx context.Context, cell, chunk int) ([]comment.Position, error) {
	at := [2]int{cell, chunk}
	l.mu.Lock()
	read := l.chunks[at]
	if read == nil {
		read = sync.OnceValues(func() ([]comment.Position, error) {
			stamps, err := l.store.stamps(ctx, l.part, l.cells[cell].name, chunk)
			if err != nil {
				return nil, err
			}
			right := l.cells[cell].stamped - chunk*l.store.perChunk
			if len(stamps) < min(right, l.store.perChunk) {
				return nil, pageindex.ErrMoved
			}
			return stamps[:min(len(stamps), right)], nil
		})
		l.chunks[at] = read
	}
	l.mu.Unlock()
	return read()
}

// stamp returns the position of stamp number n of a cell, from 0.
func (l *attempt) stamp(ctx context.Context, cell, n int) (comment.Position, error) {
	stamps, err := l.stamps(ctx, cell, n/l.store.perChunk)
	if err != nil {
		return comment.Position{}, err
	}
	return stamps[n%l.store.perChunk], nil
}

// below returns how many comments of a cell are below a position: those up to a stamp, and those
// between it and the position.
func (l *attempt) below(ctx context.Context, cell int, at comment.Position) (int, error) {
	c := l.cells[cell]
	n, last, err := l.store.stampsBelow(c.state, at, func(chunk int) ([]comment.Position, error) { return l.stamps(ctx, cell, chunk) })
	if err != nil {
		return 0, err
	}
	if err := l.checkStamped(cell, n); err != nil {
		return 0, err
	}
	between, err := l.store.members(ctx, l.part, l.cells[cell].name, behind(n, last), at.Previous(), c.count)
	return n*l.store.perStamp + len(between), err
}

// checkStamped returns an error if a lookup would read too many unstamped comments behind the last
// valid stamp.
func (l *attempt) checkStamped(cell, stamps int) error {
	c := l.cells[cell]
	if stamps == c.stamped && c.count-c.stamped*l.store.perStamp > readThrough*l.store.perStamp {
		return errUnstamped
	}
	return nil
}

// sample is a pageindex.Sampler. It takes all comments of a small range, otherwise the stamps of
// one item in the middle of the range. If a large range has no stamps, it takes the first comment.
func (l *attempt) sample(ranges []pageindex.Range) []pageindex.Probe {
	var probes []pageindex.Probe
	for i, r := range ranges {
		first, behind := (r.Low+l.store.perStamp)/l.store.perStamp-1, min(r.High/l.store.perStamp, l.cells[i].stamped)
		switch {
		case r.High-r.Low <= readThrough*l.store.perStamp:
			for index := r.Low; index < r.High; index++ {
				probes = append(probes, pageindex.Probe{Cell: i, Index: index})
			}
		case first < behind:
			chunk := (first + behind) / 2 / l.store.perChunk
			for n := max(first, chunk*l.store.perChunk); n < min(behind, (chunk+1)*l.store.perChunk); n++ {
				probes = append(probes, pageindex.Probe{Cell: i, Index: (n+1)*l.store.perStamp - 1}) // the stamped comment
			}
		default:
			probes = append(probes, pageindex.Probe{Cell: i, Index: r.Low})
		}
	}
	return probes
}

// read is a pageindex.ReadRanges. It reads stamps in one wave, and comments between them in
// another.
func (l *attempt) read(ctx context.Context, ranges []pageindex.CellRange) ([]comment.Position, error) {
	read := make([][]comment.Position, len(ranges))
	l.waves += 2
	err := call.Parallel(ctx, len(ranges), func(ctx context.Context, i int) (err error) {
		read[i], err = l.readRange(ctx, ranges[i])
		return err
	})
	return slices.Concat(read...), err
}

// readRange reads a single stamped comment from its stamp, and any other range by reading all
// comments from the stamp before it on.
func (l *attempt) readRange(ctx context.Context, r pageindex.CellRange) ([]comment.Position, error) {
	each, c := l.store.perStamp, l.cells[r.Cell]
	if n := r.High / each; r.High == r.Low+1 && r.High%each == 0 && n <= c.stamped {
		position, err := l.stamp(ctx, r.Cell, n-1)
		return []comment.Position{position}, err
	}
	stamps := min(r.Low/each, c.stamped)
	err := l.checkStamped(r.Cell, stamps)
	var last comment.Position
	if err == nil && stamps > 0 {
		last, err = l.stamp(ctx, r.Cell, stamps-1)
	}
	if err != nil {
		return nil, err
	}
	first := stamps * each
	members, err := l.store.members(ctx, l.part, c.name, behind(stamps, last), comment.MaxPosition, r.High-first)
	if err == nil && first+len(members) < r.High {
		err = pageindex.ErrMoved
	}
	if err != nil {
		return nil, err
	}
	return members[r.Low-first:], nil
}
