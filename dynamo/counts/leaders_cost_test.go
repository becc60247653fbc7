package counts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// boards answers reads of leaderboards from a function.
type boards func(context.Context, *dynamodb.QueryInput) (*dynamodb.QueryOutput, error)

// onlyQueries is a client that answers only reads of leaderboards.
type onlyQueries struct {
	readerClient
	queries boards
}

func (o onlyQueries) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return o.queries(ctx, in)
}

// partitionKey returns the partition that a call reads.
func partitionKey(in *dynamodb.QueryInput) string {
	return in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value
}

// boardOf answers reads of a language's leaderboard with the entries of some leaders, at DynamoDB's
// price.
func boardOf(language comment.Language, shards int, all []comment.Leader) boards {
	entries := map[string][]layout.Item{}
	for _, leader := range all {
		it := languageKey(leader.Product, language)
		addLeaderKeys(it, leaderPlace{product: leader.Product, language: language, count: leader.Count}, shards)
		board := layout.NewReader(it).Text(layout.AttrBoard)
		entries[board] = append(entries[board], it)
	}
	for _, of := range entries {
		slices.SortFunc(of, func(a, b layout.Item) int {
			return cmp.Compare(layout.NewReader(a).Text(layout.AttrPlace), layout.NewReader(b).Text(layout.AttrPlace))
		})
	}
	return boards(func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		rest := entries[partitionKey(in)]
		for in.ExclusiveStartKey != nil && len(rest) > 0 && layout.NewReader(rest[0]).Text(layout.AttrPlace) <= layout.NewReader(in.ExclusiveStartKey).Text(layout.AttrPlace) {
			rest = rest[1:]
		}
		out := &dynamodb.QueryOutput{Items: rest[:min(len(rest), int(*in.Limit))]}
		if n := len(out.Items); n == int(*in.Limit) {
			out.LastEvaluatedKey = out.Items[n-1]
		}
		bytes := 0
		for _, it := range out.Items {
			bytes += layout.SizeOf(it, []string{layout.AttrPK, layout.AttrSK, layout.AttrBoard, layout.AttrPlace})
		}
		out.ConsumedCapacity = &types.ConsumedCapacity{CapacityUnits: aws.Float64(max(0.5, layout.EventualUnits(bytes)))}
		return out, nil
	})
}

// Whatever its shards hold, a leaderboard is exact and costs no more than promised.
func TestLeadersStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.SampledFrom([]int{1, 4, 64}).Draw(t, "shards")
		first := rapid.SampledFrom([]int{1, 10, 11, 12, 16, 17, 32, 33, 100}).Draw(t, "first")
		width := rapid.SampledFrom([]int{8, comment.MaxIDBytes}).Draw(t, "bytes of an id")
		crowded := rapid.IntRange(1, shards).Draw(t, "crowded shards") // that hold the highest counts
		var all []comment.Leader
		for i := range 3200 {
			product := strings.Repeat("p", width-6) + fmt.Sprintf("%06d", i)
			leader := comment.Leader{Product: product, Count: 1 + i%97}
			if layout.ShardOf(product, shards) < crowded {
				leader.Count += 1000
			}
			all = append(all, leader)
		}
		language := comment.Language(strings.Repeat("x", 35))
		store := NewReader(onlyQueries{queries: boardOf(language, shards, all)}, "comments", ReaderOptions{})
		account := usage.NewPool(1 << 40).Open(1 << 40)
		got, err := store.readLeaders(usage.With(t.Context(), account), language, leaderSettings{shards: shards}, first)
		slices.SortFunc(all, compareLeaders)
		if diff := gocmp.Diff(all[:first], got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		if units, most := 0.5+account.Units(), layout.BoundFactor*LeadersUnits(first); units > most {
			t.Fatalf("%d of %d shards cost %v units, at most %v are promised", first, shards, units, most)
		}
	})
}

// maxLeaderBytes is the size of the longest possible entry.
func TestMaxLeaderBytes(t *testing.T) {
	product, language := strings.Repeat("p", comment.MaxIDBytes), comment.Language(strings.Repeat("x", 35))
	it := languageKey(product, language)
	addLeaderKeys(it, leaderPlace{product: product, language: language, count: 1}, MaxLeaderShards)
	it[layout.AttrBoard] = &types.AttributeValueMemberS{Value: leaderPartition(language, MaxLeaderShards-1)}
	if got := layout.SizeOf(it, []string{layout.AttrPK, layout.AttrSK, layout.AttrBoard, layout.AttrPlace}); got != maxLeaderBytes {
		t.Errorf("an entry has %d bytes, not %d", got, maxLeaderBytes)
	}
}

// A leaderboard costs no more for each shard than it needs, even the longest.
func TestLeadersUnits(t *testing.T) {
	// 64 shards of half a unit, in eight parts; as many entries from each of four
	for first, want := range map[int]float64{10: 4.5, 100: 14.5} {
		if got := LeadersUnits(first); got != want {
			t.Errorf("of %d products: %v units, want %v", first, got, want)
		}
	}
}
