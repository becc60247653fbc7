package counts_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

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
		table := dynamotest.TableName(t)
		must.Do(t, dynamo.CreateTable(t.Context(), client, table))
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
