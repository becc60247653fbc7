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
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/internal/usage"
)

// readSettings fetches the settings of the leaderboard.
func (r *Reader) readSettings(ctx context.Context) (leaderSettings, error) {
	output, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(r.table), Key: settingsKey(), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return leaderSettings{}, call.Wrap(err, "GetItem %s", settingsPK)
	}
	usage.From(ctx).Consume(call.UnitsOf(output.ConsumedCapacity))
	return decodeSettings(output.Item)
}

// Leaders are the products with most comments of the best rating in one language, or in all if that is empty: at most
// first of them, which is 1 or more. Reads are eventually consistent.
func (r *Reader) Leaders(ctx context.Context, language comment.Language, first int) ([]comment.Leader, error) {
	if err := r.first.check(ctx); err != nil {
		return nil, err
	}
	settings, err := r.readSettings(ctx)
	if err != nil {
		return nil, err
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

// readLeaders reads all shards. While products move from shard to shard, each may be met twice, or not at all: so they are
// read twice then, one time after the other. One that the first time missed had moved before, and the second time finds it.
// A product whose count changes between two calls for one shard may be missed for that moment: no read of an index is a
// snapshot.
func (r *Reader) readLeaders(ctx context.Context, language comment.Language, settings leaderSettings, first int) ([]comment.Leader, error) {
	shards := max(settings.shards, settings.was)
	read := func(count int) ([]comment.Leader, error) {
		board := leaderboard{improper: r.improper, client: r.client, table: r.table, language: language, starts: make([]layout.Item, shards)}
		return takeLeaders(ctx, merge.New(shards, compareLeaders, board.read), count)
	}
	if settings.was == 0 {
		return read(first)
	}
	earlier, err := read(first)
	if err != nil {
		return nil, err
	}
	later, err := read(first)
	return firstLeaders(first, later, earlier), err
}

// takeLeaders takes leaders, each product once. One whose count changes while a shard is read may be met at both of its
// places; then the first of them counts.
func takeLeaders(ctx context.Context, merged *merge.Merger[comment.Leader], count int) ([]comment.Leader, error) {
	taken := map[string]bool{}
	var out []comment.Leader
	for len(out) < count {
		more, err := merged.Take(ctx, count-len(out))
		if len(more) == 0 || err != nil {
			return out, err
		}
		for _, leader := range more {
			if !taken[leader.Product] {
				taken[leader.Product] = true
				out = append(out, leader)
			}
		}
	}
	return out, nil
}

// firstLeaders are the first of several readings of a leaderboard. Of a product that is in more than one, the first reading
// counts.
func firstLeaders(first int, readings ...[]comment.Leader) []comment.Leader {
	taken := map[string]bool{}
	var out []comment.Leader
	for _, leader := range slices.Concat(readings...) {
		if !taken[leader.Product] {
			taken[leader.Product] = true
			out = append(out, leader)
		}
	}
	slices.SortFunc(out, compareLeaders)
	return out[:min(first, len(out))]
}

// compareLeaders puts the product of more comments first, and among equals the one whose id sorts first, as the sort key
// does.
func compareLeaders(a, b comment.Leader) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Product, b.Product))
}

// leaderboard is a leaderboard that is being read.
type leaderboard struct {
	client   call.Querier
	table    string
	language comment.Language
	improper *layout.Reporter
	starts   []layout.Item // where each shard is read on, nil at its beginning
}

// read reads on in the shards that ran dry.
func (b *leaderboard) read(ctx context.Context, dry []int, missing int) ([]merge.Batch[comment.Leader], error) {
	batches := make([]merge.Batch[comment.Leader], len(dry))
	limit := shardLimit(missing, len(dry))
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) (err error) {
		batches[i], err = b.call(ctx, dry[i], limit)
		return err
	})
	return batches, err
}

// shardLimit is how many entries to read from each of some shards while so many are missing: twice an even share, since the
// hash spreads products, and no fewer than half a unit pays for in any case. A shard that holds more of them is read on.
func shardLimit(missing, shards int) int {
	return min(missing, max(capacity.UnitBytes/maxLeaderBytes, 2*missing/shards))
}

func (b *leaderboard) call(ctx context.Context, shard, limit int) (merge.Batch[comment.Leader], error) {
	key := leaderPartition(b.language, shard)
	output, err := b.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(b.table),
		IndexName:                 aws.String(string(layout.LeadersIndex)),
		KeyConditionExpression:    aws.String(layout.AttrBoard + " = :p"),
		ExpressionAttributeValues: layout.Item{":p": layout.Text(key)},
		ProjectionExpression:      aws.String(strings.Join([]string{layout.AttrPK, layout.AttrSK, layout.AttrPlace}, ",")),
		Limit:                     aws.Int32(int32(limit)),
		ExclusiveStartKey:         b.starts[shard],
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return merge.Batch[comment.Leader]{}, call.Wrap(err, "Query %s %s", layout.LeadersIndex, key)
	}
	usage.From(ctx).Consume(call.UnitsOf(output.ConsumedCapacity))
	b.starts[shard] = output.LastEvaluatedKey
	batch := merge.Batch[comment.Leader]{Done: len(output.LastEvaluatedKey) == 0}
	for _, it := range output.Items {
		leader, err := parseLeaderKey(layout.NewReader(it).Text(layout.AttrPlace))
		if err != nil {
			b.improper.Report(layout.NewImproper(it, "it has no place on a leaderboard"))
			continue
		}
		batch.Items = append(batch.Items, leader)
	}
	return batch, nil
}

// maxLeaderBytes is what an entry of a leaderboard has at most: the names and values of its keys, with a product id of
// comment.MaxIDBytes in two of them, and with a language of 35 bytes, the longest that there are, in the other two.
const maxLeaderBytes = 366

// assumedLeaderBytes is what an entry of a leaderboard is assumed to have: its four keys, each with the product's id.
const assumedLeaderBytes = 256

// LeadersUnits is what a leaderboard of so many products may cost, in read units: its settings, and as many entries from
// each of the default number of shards. capacity.BoundFactor times it is the most that a leaderboard of any number of
// shards costs, whatever they hold: half a unit for each of MaxLeaderShards, and some of them read on. While a rebuild
// changes the number of shards, they are read twice.
func LeadersUnits(first int) float64 {
	const eachShard = MaxLeaderShards * 0.5 / capacity.BoundFactor
	return 0.5 + max(eachShard, defaultLeaderShards*capacity.EventualUnits(first*assumedLeaderBytes))
}
