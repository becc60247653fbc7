package counts_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// metered returns a client whose calls are billed, and counted if they are transactions.
func metered(client *dynamodb.Client) (_ *dynamodb.Client, meter *dynamotest.Meter, transactions *int) {
	meter, transactions = &dynamotest.Meter{}, new(int)
	return call.Observed(faulttest.Before(client, "TransactWriteItems", func() { *transactions++ }), meter), meter, transactions
}

// Counting costs as little as docs/design/counting.md promises: in a burst of 25 or more comments
// of one product, at most 3 write units for each comment, beyond the comment's own.
func TestCostOfCounting(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, products := range []int{1, 1000} {
		for _, batch := range []int{1, 25, 100} {
			client, meter, transactions := metered(direct)
			counter := counts.NewCounter(client, newTable(t, direct), counts.CounterOptions{})
			r := rand.New(rand.NewPCG(1, 1))
			const batches = 4
			for i := range batches {
				records := make([]stream.Record, batch)
				for j := range records {
					c := commenttest.Random(r, fmt.Sprint("product-", r.IntN(products)))
					records[j] = stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(i*batch+j)), New: layout.Encode(c)}
				}
				handle(t, counter, records...)
			}
			reads, writes := meter.Take()
			reads, writes = reads/float64(batch*batches), writes/float64(batch*batches)
			t.Logf("batches of %d, %d products: %.2f write units and %.2f read units for each comment, %d transactions",
				batch, products, writes, reads, *transactions)
			if products == 1 && batch >= 25 && writes > 3 {
				t.Errorf("batches of %d of one product cost %.2f write units for each comment, more than 3", batch, writes)
			}
		}
	}
}

// A rebuild costs as little as docs/design/rebuild.md promises. If nothing is wrong, it writes only
// its own progress. It reads at most half a unit for each comment of products with many.
func TestCostOfRebuilding(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, size := range []struct{ comments, products int }{{240, 1}, {60, 30}} {
		comments, table := make([]comment.Comment, size.comments), newTable(t, direct)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range comments {
			comments[i] = commenttest.Random(r, fmt.Sprint("product-", i%size.products))
			comments[i].Text = strings.Repeat("word ", 60)
		}
		load(t, direct, table, comments)
		for _, what := range []string{"never counted", "right"} {
			client, meter, transactions := metered(direct)
			must.Get(counts.Hasten(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 1})).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
			reads, writes := meter.Take()
			reads, writes = reads/float64(size.comments), writes/float64(size.comments)
			t.Logf("%d comments of %d products, %s: %.2f write units, with those of progress, and %.2f read units for each comment, %d transactions",
				size.comments, size.products, what, writes, reads, *transactions)
			if what == "right" && (*transactions > 0 || size.products == 1 && reads > 0.5) {
				t.Errorf("a table that is right costs %d transactions and %.2f read units for each comment", *transactions, reads)
			}
		}
	}
}
