package counts_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// bill adds up the cost of calls on AWS. The engines report a transaction's cost as if its writes
// were single ones, so AWS's rules are applied here. A transaction writes each item twice, in units
// of 1 KB. Then an index entry whose key changes is deleted and put, once each.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
type bill struct {
	*dynamodb.Client
	mu            sync.Mutex
	transactions  int
	reads, writes float64
	entries       map[string]string // the sort keys of places on leaderboards
}

func (b *bill) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, want := range in.RequestItems {
		// No item is larger than 4 KB, and a missing item costs as much as one of that size.
		b.reads += float64(len(want.Keys))
	}
	return b.Client.BatchGetItem(ctx, in, options...)
}

func (b *bill) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.transactions++
	for _, write := range in.TransactItems {
		units := 1.0
		switch {
		case write.Put != nil:
			units = unitsOfWriting(write.Put.Item)
			b.entry(write.Put.Item, write.Put.Item)
		case write.Delete != nil:
			b.entry(write.Delete.Key, nil)
		}
		b.writes += 2 * units
	}
	return b.Client.TransactWriteItems(ctx, in, options...)
}

// entry adds the cost of an index entry of an item, if it is added, removed or moved.
func (b *bill) entry(key, it layout.Item) {
	before, after := b.entries[nameOf(key)], ""
	if it[layout.AttrPlace] != nil {
		r := layout.NewReader(it)
		after = r.Text(layout.AttrPlace)
	}
	if before == after {
		return
	}
	for _, sortKey := range []string{before, after} {
		if sortKey != "" {
			b.writes++
		}
	}
	b.entries[nameOf(key)] = after
}

// unitsOfWriting returns the cost of writing an item outside of a transaction.
func unitsOfWriting(it layout.Item) float64 {
	return float64((layout.SizeOf(it, nil) + 1023) / 1024)
}

// costOfCounting counts comments in batches of a size and returns the cost for each comment.
func costOfCounting(t testing.TB, batch, products int) *bill {
	t.Helper()
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	b := &bill{Client: client, entries: map[string]string{}}
	counter := counts.NewCounter(b, table, counts.CounterOptions{})
	r := rand.New(rand.NewPCG(1, 1))
	const batches = 4
	for i := range batches {
		records := make([]stream.Record, batch)
		for j := range records {
			c := commenttest.Random(r, fmt.Sprint("product-", r.IntN(products)))
			records[j] = stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(i*batch+j)), New: layout.Encode(c)}
		}
		must.Do(t, counter.Handle(t.Context(), records))
	}
	b.reads /= float64(batch * batches)
	b.writes /= float64(batch * batches)
	return b
}

// Counting costs as little as docs/design/counting.md promises: in a burst of 25 or more comments
// of one product, at most 3 write units for each comment, beyond the comment's own.
func TestCostOfCounting(t *testing.T) {
	for _, products := range []int{1, 1000} {
		for _, batch := range []int{1, 25, 100} {
			b := costOfCounting(t, batch, products)
			t.Logf("batches of %d, %d products: %.2f write units and %.2f read units for each comment, %d transactions",
				batch, products, b.writes, b.reads, b.transactions)
			if products == 1 && batch >= 25 && b.writes > 3 {
				t.Errorf("batches of %d of one product cost %.2f write units for each comment, more than 3", batch, b.writes)
			}
		}
	}
}

// nameOf returns the primary key of an item as one text.
func nameOf(key layout.Item) string {
	r := layout.NewReader(key)
	return r.Text(layout.AttrPK) + "/" + r.Text(layout.AttrSK)
}

// rebuildBill adds up the cost of a rebuild. The engine reports the cost of queries and scans.
type rebuildBill struct {
	bill
	puts int // of its own progress and of settings
}

func (b *rebuildBill) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	asking := *in
	asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := b.Client.Query(ctx, &asking, options...)
	if err == nil {
		b.read(output.ConsumedCapacity)
	}
	return output, err
}

func (b *rebuildBill) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	asking := *in
	asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	output, err := b.Client.Scan(ctx, &asking, options...)
	if err == nil {
		b.read(output.ConsumedCapacity)
	}
	return output, err
}

func (b *rebuildBill) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	b.mu.Lock()
	b.puts++
	b.mu.Unlock()
	return b.Client.PutItem(ctx, in, options...)
}

func (b *rebuildBill) read(consumed *types.ConsumedCapacity) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads += *consumed.CapacityUnits
}

// A rebuild costs as little as docs/design/rebuild.md promises. If nothing is wrong, it writes only
// its own progress. It reads at most half a unit for each comment of products with many.
func TestCostOfRebuilding(t *testing.T) {
	client := call.NewLocalClient(dynamotest.DynamoDBLocal(t))
	for _, size := range []struct{ comments, products int }{{240, 1}, {60, 30}} {
		comments, products := float64(size.comments), size.products
		table := newTable(t, client)
		r := rand.New(rand.NewPCG(1, 1))
		list := make([]comment.Comment, size.comments)
		for i := range list {
			list[i] = commenttest.Random(r, fmt.Sprint("product-", i%products))
			list[i].Text = strings.Repeat("word ", 60)
		}
		must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), list))(t)
		for _, what := range []string{"never counted", "right"} {
			b := &rebuildBill{bill: bill{Client: client, entries: map[string]string{}}}
			must.Get(counts.Hasten(counts.NewRebuilder(b, table, counts.RebuildOptions{Calls: 1})).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
			t.Logf("%.0f comments of %d products, %s: %.2f write units and %.2f read units for each comment, %d transactions, %d writes of progress",
				comments, products, what, b.writes/comments, b.reads/comments, b.transactions, b.puts)
			if what == "right" && (b.transactions > 0 || products == 1 && b.reads/comments > 0.5) {
				t.Errorf("a table that is right costs %d transactions and %.2f read units for each comment", b.transactions, b.reads/comments)
			}
		}
	}
}
