package dynamo

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// An edit of rating or language moves a comment from one partition of an index to another. The partitions of a page are
// read at different moments, and on AWS from indexes that lag behind the table by different times. So a page may find such
// a comment in neither partition. It finds it twice as well, which the merge sees to.
//
// A Store therefore remembers the moves that it made, or was told of by the stream. Once a page is read, it looks for
// comments among these that belong on the page and are missing, and fetches them by their ids.

const (
	// moveAge is how long a move is remembered. It bounds how far the indexes may lag.
	moveAge = 10 * time.Second
	// movesKept is how many moves are remembered, some 150 bytes each.
	movesKept = 10_000
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

// moves remembers the latest moves by product. It is safe for use by many goroutines.
type moves struct {
	mu        sync.Mutex
	byProduct map[string][]move // oldest first
	products  []string          // those of all moves, oldest first
}

// note remembers a move, and forgets those that are too old or too many.
func (m *moves) note(product string, moved move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byProduct == nil {
		m.byProduct = map[string][]move{}
	}
	m.byProduct[product] = append(m.byProduct[product], moved)
	m.products = append(m.products, product)
	for len(m.products) > movesKept || !m.byProduct[m.products[0]][0].youngAt(moved.at) {
		m.forgetOldest()
	}
}

func (m *moves) forgetOldest() {
	product := m.products[0]
	m.products = m.products[1:]
	if m.byProduct[product] = m.byProduct[product][1:]; len(m.byProduct[product]) == 0 {
		delete(m.byProduct, product)
	}
}

// of are the moves of a product that are young at a moment, oldest first.
func (m *moves) of(product string, now time.Time) []move {
	m.mu.Lock()
	defer m.mu.Unlock()
	young := m.byProduct[product]
	for len(young) > 0 && !young[0].youngAt(now) {
		young = young[1:]
	}
	return young
}

func (m move) youngAt(now time.Time) bool { return now.Sub(m.at) <= moveAge }

// missing are the positions, in the direction of reading, of comments that belong among those taken and are not there:
// their last move made them fit the filter, and there is no partition that was read and held them all the time.
func (p Plan) missing(moved []move, filter comment.Filter, taken []comment.Comment) []comment.Position {
	wanted := Part{Partition: Partition{Index: All}, Languages: filter.Languages, Ratings: filter.Ratings}
	var out []comment.Position
	for position, history := range byPosition(moved) {
		if fitsNow(history, wanted) && !p.stayed(history) && p.within(position, taken) {
			out = append(out, position)
		}
	}
	slices.SortFunc(out, p.direction)
	return slices.DeleteFunc(out, func(position comment.Position) bool {
		_, found := slices.BinarySearchFunc(taken, position, func(c comment.Comment, position comment.Position) int {
			return p.direction(c.ID.Position(), position)
		})
		return found
	})
}

func byPosition(moved []move) map[comment.Position][]move {
	out := map[comment.Position][]move{}
	for _, m := range moved {
		out[m.position] = append(out[m.position], m)
	}
	return out
}

// fitsNow tells whether the last move of a comment put it into what is wanted. Of one version several moves may be known:
// those that came too late are noted, too.
func fitsNow(history []move, wanted Part) bool {
	last := slices.MaxFunc(history, func(a, b move) int { return a.version - b.version }).version
	return slices.ContainsFunc(history, func(m move) bool { return m.version == last && wanted.holds(m.to) })
}

// stayed tells whether a partition that the plan reads held a comment before and after each of its moves. An edit does not
// take its entry out of such a partition.
func (p Plan) stayed(history []move) bool {
	return slices.ContainsFunc(p.Reads, func(read Read) bool {
		return !slices.ContainsFunc(history, func(m move) bool { return !read.holds(m.from) || !read.holds(m.to) })
	})
}

// within tells whether a position is in the stretch that was read to take these comments.
func (p Plan) within(position comment.Position, taken []comment.Comment) bool {
	if position.Compare(p.Low) < 0 || position.Compare(p.High) > 0 {
		return false
	}
	return len(taken) < p.Want || len(taken) > 0 && p.direction(position, taken[len(taken)-1].ID.Position()) <= 0
}

// direction compares positions in the direction of reading.
func (p Plan) direction(a, b comment.Position) int {
	if p.Descending {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// withMoved adds, to what a run took, those comments of the filter that moved between partitions while they were read.
func (s *Store) withMoved(ctx context.Context, r *run, taken []comment.Comment, filter comment.Filter) ([]comment.Comment, error) {
	moved := s.moves.of(r.plan.Product, s.now())
	if len(moved) == 0 {
		return taken, nil
	}
	missing := r.plan.missing(moved, filter, taken)
	if len(missing) == 0 {
		return taken, nil
	}
	found, err := s.lookUp(ctx, r, missing[:min(len(missing), maxLookups)])
	if err != nil {
		return nil, wrap(err, "comments that were just edited")
	}
	found = slices.DeleteFunc(found, func(c comment.Comment) bool { return !filter.Allows(c) })
	taken = append(taken, found...)
	slices.SortFunc(taken, r.compare)
	return taken[:min(len(taken), r.plan.Want)], nil
}

// lookUp fetches comments by their positions, consistently. Those that do not exist are left out.
func (s *Store) lookUp(ctx context.Context, r *run, positions []comment.Position) ([]comment.Comment, error) {
	r.lookups = metered{itemGetter: s.client, keys: len(positions)}
	r.waves++
	keys := make([]item, len(positions))
	for i, position := range positions {
		keys[i] = commentKey(comment.IDOf(position))
	}
	items, left, err := getItems(ctx, &r.lookups, s.table, types.KeysAndAttributes{
		Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(r.plan.projection() + "," + attrDeleted),
	})
	if err != nil {
		return nil, wrap(err, "BatchGetItem of %d comments", len(keys))
	}
	if len(left) > 0 {
		return nil, errBusy
	}
	found, err := r.decode(ctx, slices.DeleteFunc(items, noComment), &r.fetched)
	return r.unpack(found), err
}

// metered counts what fetching items by their keys takes.
type metered struct {
	itemGetter
	keys, calls, items int
	units              float64
}

// BatchGetItem implements itemGetter.
func (m *metered) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := m.itemGetter.BatchGetItem(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	m.calls++
	for _, items := range out.Responses {
		m.items += len(items)
	}
	for _, consumed := range out.ConsumedCapacity {
		m.units += aws.ToFloat64(consumed.CapacityUnits)
	}
	return out, nil
}
