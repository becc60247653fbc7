package dynamo

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// An edit of rating or language moves a comment from one partition of an index to another. The partitions of a page are
// read at different moments, and on AWS from indexes that lag behind the table by different times. So a page may find such
// a comment in neither partition. It may also find it in both; then the merge drops one.
//
// A Store therefore remembers the comments that it moved, or that the stream told it of. Once a page is read, the Store looks
// among them for those that belong on the page and are missing, and fetches these by their ids.

const (
	// moveAge is how long a move is remembered. It bounds how far the indexes may lag.
	moveAge = 10 * time.Second
	// movesKept is how many comments that moved are remembered, some 300 bytes each.
	movesKept = 10_000
	// cellsKept is how many cells of one comment are told apart. Some authors toggle.
	cellsKept = 8
	// maxLookups bounds the comments that are fetched by id for one page, each for a read unit and more.
	maxLookups = 25
)

// move is an edit that took a comment from one cell to another.
type move struct {
	at       time.Time
	position comment.Position
	from, to comment.Cell
	version  int // of the comment after it
}

// moved is a comment that moved, however often. It is never changed: further moves make another one.
type moved struct {
	at       time.Time // of the latest move
	position comment.Position
	version  int            // after its last move
	now      []comment.Cell // where that put it: in one of these, since several edits may have tried to make the version
	been     []comment.Cell // all cells of all its moves
}

// after is the comment after one more move, which may have been told late.
func (m moved) after(next move) moved {
	switch {
	case next.version > m.version:
		m.version, m.now = next.version, []comment.Cell{next.to}
	case next.version == m.version:
		m.now = with(m.now, next.to)
	}
	m.at, m.position, m.been = next.at, next.position, with(with(m.been, next.from), next.to)
	return m
}

// with adds a cell to others, which are left as they are. Of more than cellsKept it is not told which they are.
func with(cells []comment.Cell, cell comment.Cell) []comment.Cell {
	if slices.Contains(cells, cell) || len(cells) > cellsKept {
		return cells
	}
	return append(slices.Clip(cells), cell)
}

func (m moved) youngAt(now time.Time) bool { return now.Sub(m.at) <= moveAge }

// mayFit tells whether the last move may have put the comment into what is wanted.
func (m moved) mayFit(wanted planner.Part) bool {
	return len(m.now) > cellsKept || slices.ContainsFunc(m.now, wanted.Holds)
}

// moves remembers the comments that moved last, by product. It is safe for use by many goroutines.
type moves struct {
	mu        sync.Mutex
	byProduct map[string]map[comment.Position]moved
	latest    *simplelru.LRU[movedKey, time.Time] // the comments of all products, by their latest moves
}

type movedKey struct {
	product  string
	position comment.Position
}

func newMoves() *moves {
	m := &moves{byProduct: map[string]map[comment.Position]moved{}}
	m.latest = newLRU(movesKept, func(key movedKey, _ time.Time) {
		if delete(m.byProduct[key.product], key.position); len(m.byProduct[key.product]) == 0 {
			delete(m.byProduct, key.product)
		}
	})
	return m
}

// note remembers a move, and forgets comments whose moves are too old or too many.
func (m *moves) note(product string, next move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.byProduct[product]
	if of == nil {
		of = map[comment.Position]moved{}
		m.byProduct[product] = of
	}
	of[next.position] = of[next.position].after(next)
	m.latest.Add(movedKey{product, next.position}, next.at)
	for {
		if _, at, _ := m.latest.GetOldest(); next.at.Sub(at) <= moveAge {
			return
		}
		m.latest.RemoveOldest()
	}
}

// of are the comments of a product whose moves are young at a moment, in no order.
func (m *moves) of(product string, now time.Time) []moved {
	m.mu.Lock()
	defer m.mu.Unlock()
	var young []moved
	for _, one := range m.byProduct[product] {
		if one.youngAt(now) {
			young = append(young, one)
		}
	}
	return young
}

// missing are the positions, in the direction of reading, of comments that belong among those taken and are not there:
// their last move made them fit the filter, and there is no partition that was read and held them all the time.
func missing(p planner.Plan, all []moved, filter comment.Filter, taken []comment.Comment) []comment.Position {
	wanted := planner.Part{Partition: layout.Partition{Index: layout.All}, Languages: filter.Languages, Ratings: filter.Ratings}
	var out []comment.Position
	for _, m := range all {
		if m.mayFit(wanted) && !stayed(p, m) && p.Within(m.position, taken) {
			out = append(out, m.position)
		}
	}
	slices.SortFunc(out, p.Direction)
	return slices.DeleteFunc(out, func(position comment.Position) bool {
		_, found := slices.BinarySearchFunc(taken, position, func(c comment.Comment, position comment.Position) int {
			return p.Direction(c.ID.Position(), position)
		})
		return found
	})
}

// stayed tells whether a partition that the plan reads held a comment before and after each of its moves. An edit does not
// take its entry out of such a partition.
func stayed(p planner.Plan, m moved) bool {
	return len(m.been) <= cellsKept && slices.ContainsFunc(p.Reads, func(read planner.Read) bool {
		return !slices.ContainsFunc(m.been, func(cell comment.Cell) bool { return !read.Holds(cell) })
	})
}
