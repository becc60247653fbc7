package counts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/internal/usage"
)

// Leaders returns the products with the most comments of the best rating, in one language, or in
// all if that is empty. It returns at most first of them, which must be 1 or more. Reads are
// eventually consistent.
func (r *Reader) Leaders(ctx context.Context, language comment.Language, first int) ([]comment.Leader, error) {
	if err := r.first.check(ctx); err != nil {
		return nil, err
	}
	output, err := r.leaders.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(r.table), Key: settingsKey(), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, call.Wrap(err, "GetItem %s", settingsPK)
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	settings := decodeSettings(output.Item)
	if settings.damage != nil {
		return nil, settings.damage
	}
	leaders, err := r.readLeaders(ctx, language, settings, first)
	if err != nil {
		return nil, call.Wrap(err, "leaderboard")
	}
	for i := range leaders {
		leaders[i].Rank = i + 1
	}
	return leaders, nil
}

// readLeaders reads all shards. While a rebuild moves products between shards, a read may meet a
// product twice or not at all. So it then reads twice, one after the other: a product that the
// first read missed has moved, and the second read finds it. A product whose count changes between
// two calls for one shard may be missed at that moment, since no read of an index is a snapshot. It
// may also be met at both of its places; the first one is taken.
func (r *Reader) readLeaders(ctx context.Context, language comment.Language, settings leaderSettings, first int) ([]comment.Leader, error) {
	shards := max(settings.shards, settings.was)
	read := func() (out []comment.Leader, err error) {
		board := leaderboard{Reader: r, language: language, starts: make([]layout.Item, shards)}
		merged := merge.New(shards, func(a, b *comment.Leader) int { return compareLeaders(*a, *b) }, board.read)
		for len(out) < first {
			more, err := merged.Take(ctx, first-len(out))
			if len(more) == 0 || err != nil {
				return out, err
			}
			out = eachOnce(append(out, more...))
		}
		return out, nil
	}
	if settings.was == 0 {
		return read()
	}
	earlier, err := read()
	if err != nil {
		return nil, err
	}
	later, err := read()
	both := eachOnce(slices.Concat(later, earlier))
	slices.SortFunc(both, compareLeaders)
	return both[:min(first, len(both))], err
}

// eachOnce drops all entries of a product but the first.
func eachOnce(leaders []comment.Leader) []comment.Leader {
	taken := map[string]bool{}
	return slices.DeleteFunc(leaders, func(leader comment.Leader) bool {
		again := taken[leader.Product]
		taken[leader.Product] = true
		return again
	})
}

// compareLeaders orders products by count, highest first, and equal counts by id, as the sort key
// does.
func compareLeaders(a, b comment.Leader) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Product, b.Product))
}

// leaderboard reads one leaderboard, shard by shard.
type leaderboard struct {
	*Reader
	language comment.Language
	starts   []layout.Item // where the next read of each shard begins; nil for its beginning
}

// read reads the next entries of the shards that ran dry.
func (b *leaderboard) read(ctx context.Context, dry []int, missing int) ([]merge.Batch[comment.Leader], error) {
	batches := make([]merge.Batch[comment.Leader], len(dry))
	limit, sortKey := shardLimit(missing, len(dry)), layout.StatisticsSK
	if b.language != "" {
		sortKey = languageSK + string(b.language)
	}
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) error {
		key := leaderPartition(b.language, dry[i])
		output, err := b.leaders.Query(ctx, &dynamodb.QueryInput{
			TableName:                 aws.String(b.table),
			IndexName:                 aws.String(string(layout.Boards)),
			KeyConditionExpression:    aws.String(layout.AttrBoard + " = :p"),
			ExpressionAttributeValues: layout.Item{":p": layout.Text(key)},
			ProjectionExpression:      aws.String(strings.Join([]string{layout.AttrPK, layout.AttrSK, layout.AttrPlace}, ",")),
			Limit:                     aws.Int32(int32(limit)),
			ExclusiveStartKey:         b.starts[dry[i]],
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return call.Wrap(err, "Query %s %s", layout.Boards, key)
		}
		usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
		b.starts[dry[i]] = output.LastEvaluatedKey
		batches[i].Done = len(output.LastEvaluatedKey) == 0
		for _, it := range output.Items {
			r := layout.NewReader(it)
			leader, err := parseLeaderKey(r.Text(layout.AttrPlace))
			if err != nil || layout.ProductOfKey(it) != leader.Product || r.Text(layout.AttrSK) != sortKey {
				b.improper.Report(layout.NewImproper(it, "it has no place of its own on a leaderboard"))
				continue
			}
			batches[i].Items = append(batches[i].Items, leader)
		}
		return nil
	})
	return batches, err
}

// shardLimit returns how many entries to read from each shard when this many are missing in all. It
// is twice an even share, since the hash spreads products, and at least what half a read unit pays
// for. A shard with more entries among the first is read again.
func shardLimit(missing, shards int) int {
	return min(missing, max(layout.UnitBytes/maxLeaderBytes, 2*missing/shards))
}

// maxLeaderBytes is the maximum size of a leaderboard entry: the names and values of its four keys.
// Two values contain a product id of comment.MaxIDBytes, the other two a language of 35 bytes, the
// longest.
const maxLeaderBytes = 366

// assumedLeaderBytes is the assumed size of a leaderboard entry: its four keys, each with the
// product's id.
const assumedLeaderBytes = 256

// LeadersUnits returns the estimated cost, in read units, of a leaderboard of the first products.
// It is the settings, plus that many entries from each of the default number of shards. At most it
// costs layout.BoundFactor times that, for any number of shards and any content: half a unit for
// each of MaxLeaderShards, and some shards read again. While a rebuild changes the number of
// shards, the leaderboard is read twice.
func LeadersUnits(first int) float64 {
	const eachShard = MaxLeaderShards * 0.5 / layout.BoundFactor
	return 0.5 + max(eachShard, defaultLeaderShards*layout.EventualUnits(first*assumedLeaderBytes))
}
