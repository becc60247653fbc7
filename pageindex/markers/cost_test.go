package markers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// bill adds up the cost of calls on AWS. The engines report a transaction's cost as if its writes
// were single ones, so AWS's rule is applied here: a transaction writes each item twice, in units
// of 1 KB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling
type bill struct {
	*dynamodb.Client
	mu            sync.Mutex
	reads, writes float64
}

func (b *bill) add(reads, writes float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads, b.writes = b.reads+reads, b.writes+writes
}

func (b *bill) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, write := range in.TransactItems {
		units := 1.0
		if write.Put != nil {
			units = float64((layout.SizeOf(write.Put.Item, nil) + 1023) / 1024)
		}
		b.add(0, 2*units)
	}
	return b.Client.TransactWriteItems(ctx, in, options...)
}

func (b *bill) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	b.add(1, 0) // no item is larger than 4 KB
	return b.Client.GetItem(ctx, in, options...)
}

func (b *bill) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, want := range in.RequestItems {
		b.add(float64(len(want.Keys)), 0)
	}
	return b.Client.BatchGetItem(ctx, in, options...)
}

func (b *bill) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	output, err := b.Client.Query(ctx, in, options...)
	if err == nil {
		b.add(call.UnitsOf(output.ConsumedCapacity), 0)
	}
	return output, err
}

// costs is a product with many comments, and the cost of operations on it.
type costs struct {
	store *Store
	bill  *bill
	r     *rand.Rand
	made  []pageindex.Entry
	last  int // number of the last record
	// traits gives comments traits: 80 in a hundred are verified, 6 have pictures, 1 has votes.
	traits bool
}

// size is how many comments the product has at first.
const size = 1000

// load loads a product of comments, each a minute after the one before, in 30 cells, or up to eight
// times as many with traits.
func load(t *testing.T, traits bool) *costs {
	t.Helper()
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	c := &costs{bill: &bill{Client: client}, r: rand.New(rand.NewPCG(1, 2)), traits: traits}
	c.store = Open(c.bill, newTable(t, client))
	c.made = c.inserts(0, size)
	for batch := range slices.Chunk(c.made, 100) {
		c.apply(t, batch...)
	}
	return c
}

// next returns comment number n.
func (c *costs) next(n int) pageindex.Entry {
	random := commenttest.Random(c.r, "4711")
	cell := comment.Cell{Language: random.Language, Rating: random.Rating}
	for i, of := range []int{80, 6, 1} {
		if c.traits && c.r.IntN(100) < of {
			cell.Traits |= comment.AllTraits()[i]
		}
	}
	c.last++
	return pageindex.Entry{
		Product: "4711", Cell: &cell, Follows: stream.PositionOf("2026-01-01T00:00:00.000", fmt.Sprint(c.last)),
		Position: comment.PositionAt(commenttest.Epoch.Add(time.Duration(n)*time.Minute), [10]byte{byte(c.r.Uint32())}),
	}
}

// apply applies entries and returns their cost.
func (c *costs) apply(t *testing.T, entries ...pageindex.Entry) (reads, writes float64) {
	t.Helper()
	c.bill.reads, c.bill.writes = 0, 0
	apply(t, c.store, entries)
	return c.bill.reads, c.bill.writes
}

// inserts returns entries of n new comments, from a number on.
func (c *costs) inserts(from, n int) (out []pageindex.Entry) {
	for i := range n {
		out = append(out, c.next(from+i))
	}
	return out
}

// deletions returns entries that delete comments evenly, starting from the middle.
func (c *costs) deletions(n int) (out []pageindex.Entry) {
	half := len(c.made) / 2
	for i := range n {
		e := c.made[half+i*half/n]
		c.last++
		e.Cell, e.Follows = nil, stream.PositionOf("2026-01-01T00:00:00.000", fmt.Sprint(c.last))
		out = append(out, e)
	}
	return out
}

// The cost of changes and jumps, in units. A change in the middle costs more the more comments
// follow it. That is why --pages table is the default.
func TestCosts(t *testing.T) {
	checkCosts(t, load(t, false), 8, 140)
}

// With traits, comments are in more cells. Each cell has its own markers, and the header names all
// cells.
func TestCostsWithTraits(t *testing.T) {
	c := load(t, true)
	rare := pageindex.List{Product: "4711", Order: comment.NewestFirst, Filter: comment.Filter{WithMedia: new(true)}}
	next, err := pageindex.Next(t.Context(), c.store, rare, nil, 21)
	if err != nil || len(next.Positions) != 21 || next.Cost.ReadUnits > 100 {
		t.Errorf("%d comments with pictures, %+v, %v", len(next.Positions), next.Cost, err)
	}
	t.Logf("the first 21 comments with pictures: %+v", next.Cost)
	checkCosts(t, c, 14, 140)
}

func checkCosts(t *testing.T, c *costs, mostInsert, mostDelete float64) {
	for name, filter := range map[string]comment.Filter{
		"all": {}, "1 cell": {Languages: commenttest.Languages[:1], Ratings: []int{5}}, "2 ratings": {Ratings: []int{4, 5}}, "verified": {Verified: new(true)},
	} {
		list := pageindex.List{Product: "4711", Order: comment.NewestFirst, Filter: filter}
		counted := must.Get(c.store.Find(t.Context(), list, nil))(t)
		operation := usage.NewPool(1).Open(1)
		found := must.Get(c.store.Find(usage.With(t.Context(), operation), list, []pageindex.Target{{Rank: counted.Counts.Total() / 2}}))(t)
		if got := operation.Reads(); got.Calls != found.Cost.Calls || got.Units != found.Cost.ReadUnits {
			t.Errorf("charged %+v for a jump to the middle of %s: %+v", got, name, found.Cost)
		}
		t.Logf("%d comments: a jump to the middle of %s: %+v", size, name, found.Cost)
	}
	for _, n := range []int{1, 25} {
		reads, writes := c.apply(t, c.inserts(size+100*n, n)...)
		t.Logf("%d comments: %d inserted at the head: %.1f write units, %.1f read units each", size, n, writes/float64(n), reads/float64(n))
		if writes/float64(n) > mostInsert {
			t.Errorf("inserting %d costs %.1f write units each, more than %.1f", n, writes/float64(n), mostInsert)
		}
	}
	for _, n := range []int{1, 25} {
		reads, writes := c.apply(t, c.deletions(n)...)
		t.Logf("%d comments: %d deleted from the middle on: %.1f write units, %.1f read units each", size, n, writes/float64(n), reads/float64(n))
		if writes/float64(n) > mostDelete {
			t.Errorf("deleting %d costs %.1f write units each, more than %.1f", n, writes/float64(n), mostDelete)
		}
	}
}
