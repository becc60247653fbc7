package table_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
)

// crowd is a product with many comments over three years, in five ratings and eight languages. Each
// language has half as many comments as the one before.
type crowd struct {
	*countedIndex
	markers []runs.Marker // from the oldest on
	last    int           // number of the last record
}

const crowded = "crowded"

var crowdLanguages = []comment.Language{"en", "de", "fr", "es", "it", "nl", "pl", "pt-BR"}

// newCrowd makes a product with an index. It counts one more comment with the index and merges it,
// which builds the index.
func newCrowd(t *testing.T, number int) *crowd {
	t.Helper()
	c, grid := newUnindexed(t, number)
	c.writeStatistics(t, grid, runs.Start(grid, c.markers[number-1].Position, time.Now()))
	c.count(t, c.insert(rand.New(rand.NewPCG(2, 2))))
	return c
}

// newUnindexed writes the markers and the statistics of a product as if it was counted without an
// index.
func newUnindexed(t *testing.T, number int) (*crowd, comment.Stats) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	c := &crowd{countedIndex: newCounted(t, dynamotest.Dynoxide(t))}
	grid := comment.Stats{}
	for range number {
		m := runs.Marker{Position: crowdPlace(r), Cell: crowdCell(r)}
		c.markers = append(c.markers, m)
		grid.Add(m.Cell, 1)
	}
	slices.SortFunc(c.markers, func(a, b runs.Marker) int { return a.Position.Compare(b.Position) })
	c.writeMarkers(t)
	c.writeStatistics(t, grid, runs.Head{})
	return c, grid
}

var crowdBegins, crowdEnds = time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func crowdPlace(r *rand.Rand) comment.Position {
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(r.Uint32())
	}
	at := crowdBegins.Add(time.Duration(r.Int64N(int64(crowdEnds.Sub(crowdBegins)))))
	return comment.PositionAt(at, distinct)
}

func crowdCell(r *rand.Rand) comment.Cell {
	i := 0
	for i < len(crowdLanguages)-1 && r.IntN(2) == 0 {
		i++
	}
	return comment.Cell{Language: crowdLanguages[i], Rating: []int{5, 5, 5, 5, 4, 4, 3, 2, 1, 1}[r.IntN(10)]}
}

func (c *crowd) writeMarkers(t *testing.T) {
	t.Helper()
	parts := slices.Collect(slices.Chunk(c.markers, 25))
	err := call.Parallel(t.Context(), len(parts), func(ctx context.Context, i int) error {
		var puts []types.WriteRequest
		for _, m := range parts[i] {
			it := layout.ProductKey(crowded, layout.MarkerSKPrefix+m.Position.String())
			it[layout.AttrCell], it["p"] = layout.Text(layout.CellText(m.Cell)), layout.Text(string(follows(0)))
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		_, err := c.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{c.table: puts}})
		return err
	})
	must.Do(t, err)
}

func (c *crowd) writeStatistics(t *testing.T, grid comment.Stats, head runs.Head) {
	t.Helper()
	it := layout.ProductKey(crowded, layout.StatisticsSK)
	it[layout.AttrChanges], it[layout.AttrGrid] = layout.Number(1), layout.Text(layout.GridText(grid))
	if head.Exists() {
		it[layout.AttrHead] = layout.Binary(head.Encode())
	}
	must.Get(c.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &c.table, Item: it}))(t)
}

// insert returns a new comment, newer than all others.
func (c *crowd) insert(r *rand.Rand) pageindex.Entry {
	cell := crowdCell(r)
	p := comment.PositionAt(crowdEnds.Add(time.Duration(len(c.markers))*time.Second), [10]byte{byte(r.Uint32()), byte(r.Uint32())})
	c.markers = append(c.markers, runs.Marker{Position: p, Cell: cell})
	return c.entry(p, &cell)
}

func (c *crowd) entry(p comment.Position, cell *comment.Cell) pageindex.Entry {
	c.last++
	return pageindex.Entry{Product: crowded, Position: p, Cell: cell, Follows: follows(c.last)}
}

func (c *crowd) count(t *testing.T, entries ...pageindex.Entry) {
	t.Helper()
	must.Do(t, c.Apply(t.Context(), entries))
}

// listQuery is a query for a list of a crowd.
type listQuery struct {
	name   string
	filter comment.Filter
	dated  bool
}

var lists = []listQuery{
	{name: "all"},
	{name: "ratings 1 and 5", filter: comment.Filter{Ratings: []int{1, 5}}},
	{name: "German, 4 and 5", filter: comment.Filter{Languages: []comment.Language{"de"}, Ratings: []int{4, 5}}},
	{name: "rare cell", filter: comment.Filter{Languages: []comment.Language{"pt-BR"}, Ratings: []int{2}}},
	{name: "from a date on", filter: comment.Filter{CreatedAfter: date(2023, 3, 5)}, dated: true},
	{name: "between dates, 4 and 5", filter: comment.Filter{Ratings: []int{4, 5}, CreatedAfter: date(2022, 5, 5), CreatedBefore: date(2024, 9, 1)}, dated: true},
}

func date(year int, month time.Month, day int) *time.Time {
	return new(time.Date(year, month, day, 12, 0, 0, 0, time.UTC))
}

// bill is the cost of lookups: sums and maxima.
type bill struct {
	lookups, skip           int
	calls, waves, mostCalls int
	mostWaves, mostSkip     int
	units, mostUnits        float64
}

// jump looks up ranks all over a list, in both orders, and compares them with the markers.
func (c *crowd) jump(t *testing.T, q listQuery, jumps int, exact bool) (b bill) {
	t.Helper()
	low, high := q.filter.Range()
	var list []comment.Position
	for _, m := range c.markers {
		if q.filter.AllowsCell(m.Cell) && m.Position.Compare(low) >= 0 && m.Position.Compare(high) <= 0 {
			list = append(list, m.Position)
		}
	}
	for _, order := range []comment.Order{comment.OldestFirst, comment.NewestFirst} {
		for i := range jumps {
			target := pageindex.Target{Rank: len(list) * (2*i + 1) / (2 * jumps), Exact: exact}
			found := must.Get(c.Find(t.Context(), pageindex.List{Product: crowded, Filter: q.filter, Order: order}, []pageindex.Target{target}))(t)
			got := found.Boundaries[0]
			skip := target.Rank - got.Rank
			if found.Counts.Total() != len(list) || skip < 0 || exact && skip > 0 || rankOf(list, order, got.After) != got.Rank {
				t.Fatalf("%s, %s, rank %d of %d: got %+v of %d", q.name, order, target.Rank, len(list), got, found.Counts.Total())
			}
			b.add(found.Cost, skip)
		}
		slices.Reverse(list)
	}
	return b
}

// rankOf returns the number of comments of a list at or before a position.
func rankOf(list []comment.Position, order comment.Order, after *comment.Position) int {
	if after == nil {
		return 0
	}
	n, there := slices.BinarySearchFunc(list, *after, func(a, b comment.Position) int {
		if order == comment.NewestFirst {
			a, b = b, a
		}
		return a.Compare(b)
	})
	if there {
		n++
	}
	return n
}

func (b *bill) add(cost pageindex.Cost, skip int) {
	b.lookups++
	b.skip, b.mostSkip = b.skip+skip, max(b.mostSkip, skip)
	b.calls, b.mostCalls = b.calls+cost.Calls, max(b.mostCalls, cost.Calls)
	b.waves, b.mostWaves = b.waves+cost.Waves, max(b.mostWaves, cost.Waves)
	b.units, b.mostUnits = b.units+cost.ReadUnits, max(b.mostUnits, cost.ReadUnits)
}

// String returns the means and, in brackets, the maxima.
func (b bill) String() string {
	mean := func(sum float64) string { return strconv.FormatFloat(sum/float64(b.lookups), 'f', 2, 64) }
	return fmt.Sprintf("read units %s (%.1f), calls %s (%d), waves %s (%d), comments skipped %s (%d)",
		mean(b.units), b.mostUnits, mean(float64(b.calls)), b.mostCalls, mean(float64(b.waves)), b.mostWaves, mean(float64(b.skip)), b.mostSkip)
}

// A jump takes at most 3 calls in 2 waves and 3.5 read units, and with a range of dates 5 calls in
// 3 waves, under any filter and in both orders.
func TestCostOfLookups(t *testing.T) {
	for _, number := range []int{1000, 15_000} {
		c := newCrowd(t, number)
		r := rand.New(rand.NewPCG(2, 2))
		for range 20 { // a log
			c.count(t, c.insert(r))
		}
		for _, q := range lists {
			b := c.jump(t, q, 8, false)
			t.Logf("%d comments, %s: %s", number, q.name, b)
			if !q.dated && (b.mostCalls > 3 || b.mostWaves > 2 || b.mostUnits > 3.5) || b.mostCalls > 5 || b.mostWaves > 3 || b.mostSkip > 128 {
				t.Errorf("%d comments, %s: %s", number, q.name, b)
			}
			c.jump(t, q, 2, true)
		}
	}
}
