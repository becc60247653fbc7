package dynamo

import (
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// changes remembers when each product was last changed, for a bounded number of products. For any
// other product it assumes the time of the last change that it dropped. It is safe for use by many
// goroutines.
type changes struct {
	mu       sync.Mutex
	products *lru.Cache[string, change]
	dropped  change // the latest change that was evicted
	noted    uint64 // how many changes there were
}

// change is the time and the number of a change of a product.
type change struct {
	at     time.Time
	number uint64
}

func newChanges() *changes {
	c := &changes{}
	c.products = newLRU(remembered, func(_ string, dropped change) {
		c.dropped = change{at: later(c.dropped.at, dropped.at), number: max(c.dropped.number, dropped.number)}
	})
	return c
}

func (c *changes) note(product string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noted++
	c.products.Add(strings.Clone(product), change{at, c.noted}) // a copy: the text shares memory with all that the stream delivered with it
}

// last returns the latest time at which a product may have been changed.
func (c *changes) last(product string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, _ := c.products.Get(product)
	return later(last.at, c.dropped.at)
}

// number returns the number of the latest change of a product. For a product that was forgotten, it
// is that of the latest change that was forgotten, so it may also grow without a change.
func (c *changes) number(product string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, known := c.products.Peek(product); known {
		return last.number
	}
	return c.dropped.number
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// remembered is for how many products a Store keeps statistics and hints, some 2 KB each where
// there are few languages, and for how many pages it remembers the contents.
const remembered = 10_000

// newLRU returns a cache that holds at most size values; size is at least one. It calls dropped,
// unless that is nil, for each value it evicts.
func newLRU[K comparable, V any](size int, dropped func(K, V)) *lru.Cache[K, V] {
	cache, err := lru.NewWithEvict(size, dropped)
	if err != nil {
		panic("dynamo: " + err.Error()) // the size is above 0
	}
	return cache
}

// An edit of rating or language moves a comment from one partition of an index to another. The
// partitions of a page are read at different moments, and on AWS from indexes that lag behind the
// table by different times. So a page may find a moved comment in neither partition. It may also
// find it in both; then the merge drops one.
//
// A Store therefore remembers moved comments, from its own edits and from the stream. After reading
// a page, it fetches by id the moved comments that belong on the page and are missing.

const (
	// moveAge is how long a move is remembered. Indexes may lag behind the table by as much.
	moveAge = 10 * time.Second
	// movesKept is how many moved comments are remembered, some 300 bytes each.
	movesKept = 10_000
	// cellsKept is how many cells are remembered of one comment, whose author may toggle between
	// many.
	cellsKept = 8
)

// move is an edit that took a comment from one cell to another.
type move struct {
	at       time.Time
	position comment.Position
	from, to comment.Cell
	version  int // the version of the comment after the move
}

// movedComment is a comment that moved once or more. It is immutable: each further move makes a new
// value.
type movedComment struct {
	at       time.Time // the time of the latest move
	position comment.Position
	version  int            // the version after the latest move
	now      []comment.Cell // the comment is in one of these: several edits may have tried to write the version
	been     []comment.Cell // all cells that it moved from or to
}

// after returns the comment after one more move, which may arrive late.
func (m movedComment) after(next move) movedComment {
	switch {
	case next.version > m.version:
		m.version, m.now = next.version, []comment.Cell{next.to}
	case next.version == m.version:
		m.now = with(m.now, next.to)
	}
	m.at, m.position, m.been = next.at, next.position, with(with(m.been, next.from), next.to)
	return m
}

// with returns cells with one more, and leaves the given slice alone. A list longer than cellsKept
// means any cell.
func with(cells []comment.Cell, cell comment.Cell) []comment.Cell {
	if slices.Contains(cells, cell) || len(cells) > cellsKept {
		return cells
	}
	return append(slices.Clip(cells), cell)
}

// moves remembers the comments that moved last, by product. It is safe for use by many goroutines.
type moves struct {
	mu        sync.Mutex
	byProduct map[string]map[comment.Position]movedComment
	latest    *lru.Cache[movedKey, time.Time] // the comments of all products, by their latest moves
}

type movedKey struct {
	product  string
	position comment.Position
}

func newMoves() *moves {
	m := &moves{byProduct: map[string]map[comment.Position]movedComment{}}
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
	product, next.from, next.to = strings.Clone(product), next.from.Clone(), next.to.Clone() // as changes.note does
	of := m.byProduct[product]
	if of == nil {
		of = map[comment.Position]movedComment{}
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

// of returns the comments of a product that moved within moveAge, in no order.
func (m *moves) of(product string, now time.Time) []movedComment {
	m.mu.Lock()
	defer m.mu.Unlock()
	var young []movedComment
	for _, one := range m.byProduct[product] {
		if now.Sub(one.at) <= moveAge {
			young = append(young, one)
		}
	}
	return young
}

// missing returns the positions of moved comments that belong among those taken and are not there,
// in the direction of reading. Such a comment may fit the filter after its last move, and no part
// that was read at its position held it throughout.
//
// last is the place of the last comment that was taken from partitions, nil if these were read to
// the end. By votes, a comment's place is known only once it is fetched.
func missing(p *planner.Plan, readAt func(comment.Position) []planner.Part, all []movedComment, taken []layout.Compressed, last *comment.Place) []comment.Position {
	var out []comment.Position
	for _, m := range all {
		within := p.ByVotes || p.Within(comment.Place{Position: m.position}, last)
		fits := len(m.now) > cellsKept || slices.ContainsFunc(m.now, p.Filter.AllowsCell)
		if !within || !fits {
			continue
		}
		// Moves within one part that was read change the entry in place, so the page cannot have missed
		// it.
		stayed := len(m.been) <= cellsKept && slices.ContainsFunc(readAt(m.position), func(part planner.Part) bool {
			return !slices.ContainsFunc(m.been, func(cell comment.Cell) bool { return !part.Holds(cell) })
		})
		if !stayed {
			out = append(out, m.position)
		}
	}
	slices.SortFunc(out, p.Direction)
	return slices.DeleteFunc(out, func(position comment.Position) bool {
		return slices.ContainsFunc(taken, func(c layout.Compressed) bool { return c.ID.Position() == position })
	})
}
