package counts_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// memoryTable is a table in memory that bills what the index of page numbers costs beyond counting:
// writes of its own items, and what its head adds to the statistics item. It supports the calls of
// counting and merging. It checks no conditions, since it has a single writer.
type memoryTable struct {
	counts.VoteWriter // methods that the tests do not call
	mu                sync.Mutex
	keys              []string // of all items, sorted
	items             map[string]layout.Item
	writes            float64
}

// keyText returns a primary key as one text, which sorts as the keys of a partition do.
func keyText(partition, sort string) string { return partition + "\x00" + sort }

func keyTextOf(it layout.Item) string {
	r := layout.NewReader(it)
	return keyText(r.Text(layout.AttrPK), r.Text(layout.AttrSK))
}

// put writes an item, or deletes it if it is nil. times is the price of a write unit: 2 in a
// transaction.
func (m *memoryTable) put(key, it layout.Item, times float64) {
	at := keyTextOf(key)
	m.bill(at, m.items[at], it, times)
	i, found := slices.BinarySearch(m.keys, at)
	switch {
	case it == nil && found:
		m.keys = slices.Delete(m.keys, i, i+1)
	case it != nil && !found:
		m.keys = slices.Insert(m.keys, i, at)
	}
	if m.items[at] = it; it == nil {
		delete(m.items, at)
	}
}

// bill charges for a write the larger of the item's sizes before and after.
func (m *memoryTable) bill(at string, before, after layout.Item, times float64) {
	units := func(it layout.Item) float64 {
		return max(1, math.Ceil(float64(layout.SizeOf(it, nil))/layout.WriteUnitBytes))
	}
	switch {
	case strings.HasPrefix(at, "R#"):
		m.writes += times * max(units(before), units(after))
	case strings.HasSuffix(at, keyText("", layout.StatisticsSK)):
		plain := maps.Clone(after)
		delete(plain, layout.AttrHead)
		m.writes += times * (units(after) - units(plain))
	}
}

func (m *memoryTable) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for name, want := range in.RequestItems {
		for _, key := range want.Keys {
			if it := m.items[keyTextOf(key)]; it != nil {
				out.Responses[name] = append(out.Responses[name], it)
			}
		}
	}
	return out, nil
}

func (m *memoryTable) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := map[string]string{}
	for name, value := range in.ExpressionAttributeValues {
		values[name] = value.(*types.AttributeValueMemberS).Value
	}
	out := &dynamodb.QueryOutput{}
	from, to := sortRange(*in.KeyConditionExpression, values)
	first, _ := slices.BinarySearch(m.keys, keyText(values[":key"], from))
	for _, at := range m.keys[first:] {
		if at > keyText(values[":key"], to) {
			break
		}
		out.Items = append(out.Items, m.items[at])
	}
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		slices.Reverse(out.Items)
	}
	if in.Limit != nil {
		out.Items = out.Items[:min(len(out.Items), int(*in.Limit))]
	}
	return out, nil
}

// sortRange returns the lowest and highest sort key that a condition selects.
func sortRange(condition string, values map[string]string) (from, to string) {
	for name, value := range values {
		switch {
		case strings.Contains(condition, "begins_with(SK,"+name+")"):
			return value, value + "\xff"
		case strings.Contains(condition, "SK > "+name):
			return value + "\x00", "\xff"
		}
	}
	return values[":from"], values[":to"]
}

func (m *memoryTable) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, write := range in.TransactItems {
		switch {
		case write.Put != nil:
			m.put(write.Put.Item, write.Put.Item, 2)
		case write.Delete != nil:
			m.put(write.Delete.Key, nil, 2)
		}
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func (m *memoryTable) TransactGetItems(_ context.Context, in *dynamodb.TransactGetItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &dynamodb.TransactGetItemsOutput{}
	for _, get := range in.TransactItems {
		out.Responses = append(out.Responses, types.ItemResponse{Item: m.items[keyTextOf(get.Get.Key)]})
	}
	return out, nil
}

func (m *memoryTable) BatchWriteItem(_ context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, requests := range in.RequestItems {
		for _, request := range requests {
			if request.PutRequest != nil {
				m.put(request.PutRequest.Item, request.PutRequest.Item, 1)
			} else {
				m.put(request.DeleteRequest.Key, nil, 1)
			}
		}
	}
	return &dynamodb.BatchWriteItemOutput{}, nil
}

func (m *memoryTable) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(in.Item, in.Item, 1)
	return &dynamodb.PutItemOutput{}, nil
}

func (m *memoryTable) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(in.Key, nil, 1)
	return &dynamodb.DeleteItemOutput{}, nil
}

// priced counts the comments of one product in a table in memory.
type priced struct {
	tb      testing.TB
	table   *memoryTable
	counter *counts.Counter
	r       *rand.Rand
	there   []comment.Comment
	records int
	seconds int // the newest comment's
}

func newPriced(tb testing.TB) *priced {
	m := &memoryTable{items: map[string]layout.Item{}}
	options := counts.CounterOptions{Pages: table.New(m, "t"), Logger: slog.New(slog.DiscardHandler)}
	return &priced{tb: tb, table: m, counter: counts.NewCounter(m, "t", options), r: rand.New(rand.NewPCG(1, 1))}
}

// fresh returns a comment created in a second. Its language is one of eight, each half as frequent
// as the one before.
func (p *priced) fresh(second int) comment.Comment {
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(p.r.Uint32())
	}
	language := 0
	for language < 7 && p.r.IntN(2) == 0 {
		language++
	}
	at := time.Date(2020, 1, 1, 0, 0, second, 0, time.UTC)
	return comment.Comment{
		ID: comment.IDOf(comment.PositionAt(at, distinct)), ProductID: "p", Version: 1,
		Language: comment.Language(fmt.Sprintf("l%d", language)), Rating: 1 + min(4, p.r.IntN(8)),
	}
}

// handle counts changes in bursts, and returns the cost of each in write units.
func (p *priced) handle(changes []stream.Record, burst int) float64 {
	p.tb.Helper()
	before := p.table.writes
	for batch := range slices.Chunk(changes, burst) {
		if err := p.counter.Handle(p.tb.Context(), batch); err != nil {
			p.tb.Fatal(err)
		}
		p.counter.AwaitMerges(p.tb.Context())
	}
	return (p.table.writes - before) / float64(len(changes))
}

func (p *priced) record(before, after *comment.Comment) stream.Record {
	p.records++
	record := stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(p.records))}
	if before != nil {
		record.Old = layout.Encode(*before)
	}
	if after != nil {
		record.New = layout.Encode(*after)
	}
	return record
}

// inserts returns records of new comments, each newer than all others, or at random times.
func (p *priced) inserts(number int, newest bool) (records []stream.Record) {
	for range number {
		p.seconds++
		second := p.seconds
		if !newest {
			second = p.r.IntN(second)
		}
		c := p.fresh(second)
		p.there = append(p.there, c)
		records = append(records, p.record(nil, &c))
	}
	return records
}

// deletes and edits return records of changes of random comments.
func (p *priced) deletes(number int) (records []stream.Record) {
	for range number {
		i := p.r.IntN(len(p.there))
		records = append(records, p.record(new(p.there[i]), nil))
		last := len(p.there) - 1
		p.there[i] = p.there[last]
		p.there = p.there[:last]
	}
	return records
}

func (p *priced) edits(number int) (records []stream.Record) {
	for _, i := range p.r.Perm(len(p.there))[:number] {
		after := p.there[i]
		after.Rating = after.Rating%comment.MaxRating + 1
		records = append(records, p.record(&p.there[i], &after))
		p.there[i] = after
	}
	return records
}

// costs measures what changes of a product with size comments cost in write units, beyond counting
// them.
func costs(tb testing.TB, size int) map[string]float64 {
	changes := min(size/4, 5_000) // enough for several merges
	p := newPriced(tb)
	out := map[string]float64{"built, in bursts of 1000": p.handle(p.inserts(size, true), 1000)}
	for _, burst := range []int{1, 25, 100} {
		out[fmt.Sprintf("newest, in bursts of %d", burst)] = p.handle(p.inserts(2_000, true), burst)
	}
	out["deletes, in bursts of 25"] = p.handle(p.deletes(changes), 25)
	out["edits, in bursts of 25"] = p.handle(p.edits(changes), 25)
	out["back-dated, in bursts of 25"] = p.handle(p.inserts(changes, false), 25)
	out["deletes, alone"] = p.handle(p.deletes(changes), 1)
	return out
}

func report(tb testing.TB, size int, costs map[string]float64) {
	for _, what := range slices.Sorted(maps.Keys(costs)) {
		tb.Logf("%d comments, %s: %.3f write units", size, what, costs[what])
	}
}

// TestCostOfTheIndex limits the cost of the page number index, in write units for each comment
// beyond counting it, to the figures in docs/design/page-index-table.md.
func TestCostOfTheIndex(t *testing.T) {
	for _, size := range []int{1_000, 10_000} {
		got := costs(t, size)
		report(t, size, got)
		for what, most := range map[string]float64{
			"newest, in bursts of 1": 0.06, "newest, in bursts of 25": 0.06, "newest, in bursts of 100": 0.06,
			"deletes, in bursts of 25": 0.5, "edits, in bursts of 25": 0.5, "back-dated, in bursts of 25": 0.5,
			"deletes, alone": 4,
		} {
			if got[what] > most {
				t.Errorf("%d comments, %s: %.3f write units, more than %v", size, what, got[what], most)
			}
		}
	}
}

// BenchmarkCostOfTheIndex measures the same for large products: go test ./dynamo/counts -run '^$'
// -bench CostOfTheIndex -benchtime 1x
func BenchmarkCostOfTheIndex(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint("comments=", size), func(b *testing.B) {
			for b.Loop() {
				report(b, size, costs(b, size))
			}
		})
	}
}
