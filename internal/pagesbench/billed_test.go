package pagesbench

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// billed is a table that adds up the cost of keeping page numbers in it, beyond counting: writes of
// their own items, and what the head of the index adds to the statistics. The engines bill a
// transaction as if it were single writes, so AWS's rules are applied here.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
type billed struct {
	*dynamodb.Client
	table string

	mu    sync.Mutex
	units float64
	// large has the sizes in units of items that take more than one. Writes that replace or delete
	// them are charged by these sizes.
	large map[string]float64
}

// written returns the write units so far.
func (b *billed) written() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.units
}

// bill charges for writing an item, or for deleting the item with a key. times is the price of a
// unit: 2 in a transaction.
func (b *billed) bill(key, item layout.Item, times float64) {
	r := layout.NewReader(key)
	name := r.Text(layout.AttrPK) + " " + r.Text(layout.AttrSK)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case keepsPages(name):
		after := max(1, unitsOf(item))
		b.units += times * max(after, b.large[name])
		if delete(b.large, name); after > 1 {
			b.large[name] = after
		}
	case item[layout.AttrHead] != nil:
		plain := maps.Clone(item)
		delete(plain, layout.AttrHead)
		b.units += times * (unitsOf(item) - unitsOf(plain))
	}
}

// keepsPages reports whether an item exists for page numbers only.
func keepsPages(key string) bool { return strings.HasPrefix(key, "R#") || strings.HasPrefix(key, "K#") }

func unitsOf(item layout.Item) float64 { return float64((bytesOf(item) + 1023) / 1024) }

func bytesOf(item layout.Item) int {
	return layout.SizeOf(item, nil)
}

func (b *billed) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, write := range in.TransactItems {
		switch {
		case write.Put != nil:
			b.bill(write.Put.Item, write.Put.Item, 2)
		case write.Delete != nil:
			b.bill(write.Delete.Key, nil, 2)
		case write.ConditionCheck != nil:
			b.bill(write.ConditionCheck.Key, nil, 2)
		}
	}
	return b.Client.TransactWriteItems(ctx, in, options...)
}

func (b *billed) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	for _, request := range in.RequestItems[b.table] {
		if request.PutRequest != nil {
			b.bill(request.PutRequest.Item, request.PutRequest.Item, 1)
		} else {
			b.bill(request.DeleteRequest.Key, nil, 1)
		}
	}
	return b.Client.BatchWriteItem(ctx, in, options...)
}

func (b *billed) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	b.bill(in.Item, in.Item, 1)
	return b.Client.PutItem(ctx, in, options...)
}

func (b *billed) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	b.bill(in.Key, nil, 1)
	return b.Client.DeleteItem(ctx, in, options...)
}

// overhead is the number of bytes that DynamoDB adds to each item when it bills storage.
const overhead = 100

// stored returns the storage that page numbers take in the table.
func (b *billed) stored(t *testing.T) (sum int64) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(b.Client, &dynamodb.ScanInput{TableName: aws.String(b.table), Limit: aws.Int32(2000)})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(t.Context()))(t)
		for _, item := range page.Items {
			if keepsPages(layout.NewReader(item).Text(layout.AttrPK)) {
				sum += int64(bytesOf(item)) + overhead
			} else {
				sum += int64(layout.SizeOf(item, []string{layout.AttrHead}))
			}
		}
	}
	return sum
}

// put writes number items. The local engine is fastest with transactions of the largest size.
func (b *billed) put(t *testing.T, number int, item func(i int) layout.Item) {
	t.Helper()
	const batch, lanes = 100, 2
	err := call.Parallel(t.Context(), lanes, func(ctx context.Context, lane int) error {
		for first := lane * batch; first < number; first += lanes * batch {
			var writes []types.TransactWriteItem
			for i := first; i < min(first+batch, number); i++ {
				writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(b.table), Item: item(i)}})
			}
			if err := call.Transact(ctx, b, writes); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(t, err)
}
