package counts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// countedProducts makes a table with the statistics of a number of products, ten comments each.
func countedProducts(b *testing.B, client *dynamodb.Client, products int) (table string, ids []string) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	h := &history{}
	for n := range products {
		id := fmt.Sprint("product-", n)
		ids = append(ids, id)
		for i, c := range commenttest.Many(r, id, 10) {
			h.add(n*10+i, nil, &c)
		}
	}
	table = newTable(b, client)
	handle(b, counts.NewCounter(client, table, counts.CounterOptions{}), slices.Concat(h.shards[0], h.shards[1])...)
	return table, ids
}

// benchCalls measures reads of a store, and reports their calls.
func benchCalls(b *testing.B, direct *dynamodb.Client, table string, read func(store *dynamo.Store)) {
	client, network := faulttest.Under(direct, func(int) faulttest.Fault { return faulttest.None })
	store := dynamo.NewStore(client, table, dynamo.Options{})
	for b.Loop() {
		read(store)
	}
	b.ReportMetric(float64(network.Calls())/float64(b.N), "calls/op")
}

// BenchmarkStatsOf100 fetches the statistics of 100 products together, and one by one.
func BenchmarkStatsOf100(b *testing.B) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(b))
	table, ids := countedProducts(b, direct, 100)
	for _, size := range []int{100, 1} {
		b.Run(fmt.Sprintf("by=%d", size), func(b *testing.B) {
			benchCalls(b, direct, table, func(store *dynamo.Store) {
				for part := range slices.Chunk(ids, size) {
					if found, failed, err := store.StatsOf(b.Context(), part); err != nil || len(failed) > 0 || len(found) != size {
						b.Fatal(found, failed, err)
					}
				}
			})
		})
	}
}

// BenchmarkLeaders reads the first products of a leaderboard of 500, which is four shards.
func BenchmarkLeaders(b *testing.B) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(b))
	table, _ := countedProducts(b, direct, 500)
	for _, first := range []int{10, 100} {
		b.Run(fmt.Sprintf("first=%d", first), func(b *testing.B) {
			benchCalls(b, direct, table, func(store *dynamo.Store) {
				if leaders, err := store.Leaders(b.Context(), "", first); err != nil || len(leaders) != first {
					b.Fatal(leaders, err)
				}
			})
		})
	}
}
