package counts_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
	size := layout.SizeOf(it, slices.Collect(maps.Keys(it)))
	return float64((size + 1023) / 1024)
}

// costOfCounting counts comments in batches of a size and returns the cost for each comment.
func costOfCounting(t testing.TB, batch, products int) *bill {
	t.Helper()
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	b := &bill{Client: client, entries: map[string]string{}}
	table := dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
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
