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
	"github.com/talkback/talkback/internal/commenttest/must"
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
	must.Do(b, counts.NewCounter(client, table, counts.CounterOptions{}).Handle(b.Context(), slices.Concat(h.shards[0], h.shards[1])))
	return table, ids
}

// countCalls wraps a client to count its calls.
func countCalls(client *dynamodb.Client) (*dynamodb.Client, *faulttest.Network) {
	return faulttest.Under(client, func(int) faulttest.Fault { return faulttest.None })
}

// BenchmarkStatsOf100 fetches the statistics of 100 products together, and one by one.
func BenchmarkStatsOf100(b *testing.B) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(b))
	table, ids := countedProducts(b, direct, 100)
	for _, size := range []int{100, 1} {
		b.Run(fmt.Sprintf("by=%d", size), func(b *testing.B) {
			client, network := countCalls(direct)
			store := dynamo.NewStore(client, table, dynamo.Options{})
			for b.Loop() {
				for part := range slices.Chunk(ids, size) {
					if found, failed, err := store.StatsOf(b.Context(), part); err != nil || len(failed) > 0 || len(found) != size {
						b.Fatal(found, failed, err)
					}
				}
			}
			b.ReportMetric(float64(network.Calls())/float64(b.N), "calls/op")
		})
	}
}

// BenchmarkLeaders reads the first products of a leaderboard of 500, which is four shards.
func BenchmarkLeaders(b *testing.B) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(b))
	table, _ := countedProducts(b, direct, 500)
	for _, first := range []int{10, 100} {
		b.Run(fmt.Sprintf("first=%d", first), func(b *testing.B) {
			client, network := countCalls(direct)
			store := dynamo.NewStore(client, table, dynamo.Options{})
			for b.Loop() {
				if leaders, err := store.Leaders(b.Context(), "", first); err != nil || len(leaders) != first {
					b.Fatal(leaders, err)
				}
			}
			b.ReportMetric(float64(network.Calls())/float64(b.N), "calls/op")
		})
	}
}
