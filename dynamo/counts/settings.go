package counts

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Settings of the statistics of a whole table: into how many shards the leaderboards are parted.
//
// They are in one item, which is read. A transaction that depends on them must fail once a rebuild has changed them. Were that
// a condition on the item itself, all such transactions would be in each other's way, for DynamoDB lets no two that name
// one item run at once, though neither changes it. So there are settingsGuards more items, each with the generation of the
// settings, of which a transaction names one. A rebuild raises the generation in the settings first, then in each guard, and
// only then looks for products. A transaction that uses an older generation then fails at its guard.
const (
	settingsPK     = "STATISTICS"
	settingsSK     = "LEADERS"
	attrShards     = "shards" // N, how many there are
	attrWas        = "was"    // N, how many there were, while a rebuild moves what is in them
	attrGeneration = "g"      // N, rises with each change of the number of shards; left out before the first

	// settingsGuards is how many guards there are: enough for those who count at once seldom to meet at one.
	settingsGuards = 64
)

// itemPutter is the part of the SDK's client that writes single items.
type itemPutter interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// leaderSettings say into how many shards the leaderboard is parted.
type leaderSettings struct {
	shards int
	// was is the number of before, 0 unless a rebuild is under way that changes it.
	was int
	// generation rises with each change of the number.
	generation int64
	// damaged are the attributes of an item that is not what it should be, nil of one that is.
	damaged layout.Item
}

func settingsKey() layout.Item { return layout.StreamKey(settingsPK, settingsSK) }

// guardKey is the primary key of the guard that a product's transactions name.
func guardKey(product string) layout.Item { return guardKeyAt(leaderShard(product, settingsGuards)) }

func guardKeyAt(guard int) layout.Item {
	return layout.StreamKey(settingsPK, settingsSK+"#"+strconv.Itoa(guard))
}

// decodeSettings reads the settings; none are the default ones. Settings that cannot be read are an error of the kind
// Unavailable, for no record of the stream is at fault, and come along by what is there instead.
func decodeSettings(in layout.Item) (leaderSettings, error) {
	if len(in) == 0 {
		return leaderSettings{shards: defaultLeaderShards}, nil
	}
	r := layout.NewReader(in)
	s := leaderSettings{shards: int(r.Number(attrShards)), was: int(r.OptionalNumber(attrWas)), generation: r.OptionalNumber(attrGeneration)}
	if r.Err() != nil || s.shards < 1 || s.shards > MaxLeaderShards || s.was < 0 || s.was > MaxLeaderShards {
		return leaderSettings{damaged: in}, comment.Errorf(comment.Unavailable,
			"item %s/%s does not say how many shards the leaderboard has; talkback rebuild mends it", settingsPK, settingsSK)
	}
	return s, nil
}

// change are settings with another number of shards; the same if there are so many already, or if that is 0. guarded is the
// latest generation that a guard knows. Where that is later, the settings were deleted or put back by hand: then, as when they
// cannot be read, the number may have been any.
func (s leaderSettings) change(shards int, guarded int64, now time.Time) leaderSettings {
	next := leaderSettings{shards: shards, was: max(s.shards, s.was), generation: max(s.generation+1, guarded+1, now.UnixMilli())}
	switch {
	case s.damaged != nil || guarded > s.generation:
		next.shards, next.was = cmp.Or(shards, s.shards, defaultLeaderShards), MaxLeaderShards
	case shards == 0 || shards == s.shards:
		return s
	}
	return next
}

// same tells whether settings say the same as others, and can be read.
func (s leaderSettings) same(other leaderSettings) bool {
	return other.damaged == nil && s.shards == other.shards && s.was == other.was && s.generation == other.generation
}

// settled are the settings once every product is where they say.
func (s leaderSettings) settled() leaderSettings {
	s.was = 0
	return s
}

// write puts settings in the place of others.
func (s leaderSettings) write(table string, before leaderSettings) types.TransactWriteItem {
	it := settingsKey()
	it[attrShards] = layout.Number(int64(s.shards))
	if s.was != 0 {
		it[attrWas] = layout.Number(int64(s.was))
	}
	if s.generation != 0 {
		it[attrGeneration] = layout.Number(s.generation)
	}
	condition, values := before.unchanged()
	return call.PutIf(table, it, condition, values)
}

// unchanged is the condition that the settings are as they were read.
func (s leaderSettings) unchanged() (condition string, values layout.Item) {
	if s.damaged != nil {
		return sameAttributes(s.damaged, attrShards, attrWas, attrGeneration)
	}
	condition = attrShards + " = :shards AND " + attrGeneration + " = :g"
	values = layout.Item{":shards": layout.Number(int64(s.shards)), ":g": layout.Number(s.generation)}
	if s.generation == 0 {
		condition = "attribute_not_exists(" + layout.AttrPK + ") OR " + attrShards + " = :shards AND attribute_not_exists(" + attrGeneration + ")"
		delete(values, ":g")
	}
	return condition, values
}

// notNewer is the condition that a guard knows of no later settings.
func (s leaderSettings) notNewer() (condition string, values layout.Item) {
	return "attribute_not_exists(" + attrGeneration + ") OR " + attrGeneration + " <= :g", layout.Item{":g": layout.Number(s.generation)}
}

// guard makes a transaction of a product fail if a rebuild has changed the settings.
func (s leaderSettings) guard(table, product string) types.TransactWriteItem {
	condition, values := s.notNewer()
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(table), Key: guardKey(product), ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	}}
}

// raise brings all guards to the generation of the settings. One that is further is an error of the kind Conflict.
func (s leaderSettings) raise(ctx context.Context, client itemPutter, table string) error {
	condition, values := s.notNewer()
	return call.Parallel(ctx, settingsGuards, func(ctx context.Context, guard int) error {
		it := guardKeyAt(guard)
		it[attrGeneration] = layout.Number(s.generation)
		return call.Retry(ctx, func() (further bool, err error) {
			_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String(table), Item: it, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
			})
			var refused *types.ConditionalCheckFailedException
			if errors.As(err, &refused) {
				return false, comment.Errorf(comment.Conflict, "another rebuild has changed the number of shards meanwhile: run this again")
			}
			return false, call.Wrap(err, "PutItem %s/%s", settingsPK, settingsSK)
		})
	})
}

// guarded is the latest generation that a guard knows, 0 if none knows any.
func guarded(ctx context.Context, client call.BatchGetter, table string) (latest int64, err error) {
	keys := make([]layout.Item, settingsGuards)
	for guard := range keys {
		keys[guard] = guardKeyAt(guard)
	}
	guards, err := fetch(ctx, client, table, keys)
	for _, it := range guards {
		latest = max(latest, layout.NewReader(it).Number(attrGeneration))
	}
	return latest, err
}

// fetchSettings gets the settings, consistently.
func fetchSettings(ctx context.Context, client call.BatchGetter, table string) (leaderSettings, error) {
	items, err := fetch(ctx, client, table, []layout.Item{settingsKey()})
	if err != nil {
		return leaderSettings{}, err
	}
	return decodeSettings(items[keyOf(settingsKey())])
}
