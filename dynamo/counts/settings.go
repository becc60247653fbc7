package counts

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Settings of the statistics of a whole table: into how many shards the leaderboards are split.
//
// One item holds them. A transaction that depends on them must fail once a rebuild has changed
// them. A condition on that item would make all such transactions conflict, since DynamoDB runs no
// two transactions on one item at once, even if neither changes it. So there are settingsGuards
// more items, each with the generation of the settings, and a transaction checks one of them. A
// rebuild raises the generation in the settings first, then in each guard, and only then reads
// products. A transaction that uses an older generation then fails at its guard.
const (
	settingsPK     = "STATISTICS"
	settingsSK     = "LEADERS"
	attrShards     = "shards" // N, how many there are
	attrWas        = "was"    // N, how many there were, while a rebuild moves products between them
	attrGeneration = "g"      // N, rises with each change of the number; missing before the first

	// settingsGuards is the number of guards: enough that concurrent counters seldom use the same
	// one.
	settingsGuards = 64
)

// leaderSettings has the number of shards of the leaderboards.
type leaderSettings struct {
	shards int
	// was is the earlier number while a rebuild changes it, else 0.
	was        int
	generation int64

	stored
}

func settingsKey() layout.Item { return layout.Key(settingsPK, settingsSK) }

func guardKeyAt(guard int) layout.Item {
	return layout.Key(settingsPK, settingsSK+"#"+strconv.Itoa(guard))
}

// errSettings is of the kind Unavailable, since no record of the stream is at fault.
var errSettings = comment.Errorf(comment.Unavailable,
	"item %s/%s does not say how many shards the leaderboard has; talkback rebuild mends it", settingsPK, settingsSK)

// decodeSettings decodes the settings. An empty item means the defaults. Damaged settings have no
// number of shards.
func decodeSettings(in layout.Item) leaderSettings {
	if len(in) == 0 {
		return leaderSettings{shards: defaultLeaderShards}
	}
	r := layout.NewReader(in)
	s := leaderSettings{stored: stored{item: in}, shards: int(r.Number(attrShards)), was: int(r.OptionalNumber(attrWas)), generation: r.OptionalNumber(attrGeneration)}
	if r.Err() != nil || s.shards < 1 || s.shards > MaxLeaderShards || s.was < 0 || s.was > MaxLeaderShards {
		return leaderSettings{stored: stored{in, errSettings}}
	}
	return s
}

// change returns settings with another number of shards, or the same ones if the number is the same
// or 0. latestGuard is the latest generation in any guard. If it is later than that of the
// settings, the settings were deleted or restored by hand. Then, or if the settings are unreadable,
// the earlier number is unknown.
func (s leaderSettings) change(shards int, latestGuard int64, now time.Time) leaderSettings {
	next := leaderSettings{shards: shards, was: max(s.shards, s.was), generation: max(s.generation+1, latestGuard+1, now.UnixMilli())}
	switch {
	case s.damage != nil || latestGuard > s.generation:
		next.shards, next.was = cmp.Or(shards, s.shards, defaultLeaderShards), MaxLeaderShards
	case shards == 0 || shards == s.shards:
		return s
	}
	return next
}

// same reports whether two settings are equal and other can be read.
func (s leaderSettings) same(other leaderSettings) bool {
	return other.damage == nil && s.shards == other.shards && s.was == other.was && s.generation == other.generation
}

// write returns the write of the settings, in place of those that were read.
func (s leaderSettings) write(table string, before leaderSettings) types.TransactWriteItem {
	it := settingsKey()
	it[attrShards] = layout.Number(int64(s.shards))
	if s.was != 0 {
		it[attrWas] = layout.Number(int64(s.was))
	}
	if s.generation != 0 {
		it[attrGeneration] = layout.Number(s.generation)
	}
	condition, values := layout.AsRead(before.item, attrShards, attrWas, attrGeneration)
	return call.PutIf(table, it, condition, values)
}

// notNewer returns the condition that a guard has no later generation.
func (s leaderSettings) notNewer() (condition string, values layout.Item) {
	return "attribute_not_exists(" + attrGeneration + ") OR " + attrGeneration + " <= :g", layout.Item{":g": layout.Number(s.generation)}
}

// guard returns the condition by which a product's transaction fails if a rebuild has changed the
// settings. The product's hash selects the guard item.
func (s leaderSettings) guard(table, product string) types.TransactWriteItem {
	condition, values := s.notNewer()
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(table), Key: guardKeyAt(layout.ShardOf(product, settingsGuards)),
		ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	}}
}

// raise sets the guards to the generation of the settings. It returns a Conflict error if a guard
// has a later one.
func (s leaderSettings) raise(ctx context.Context, client VoteWriter, table string, guards int) error {
	condition, values := s.notNewer()
	return call.Parallel(ctx, guards, func(ctx context.Context, guard int) error {
		it := guardKeyAt(guard)
		it[attrGeneration] = layout.Number(s.generation)
		return call.Retry(ctx, func() (further bool, err error) {
			if err = call.Put(ctx, client, call.PutIf(table, it, condition, values)); call.Refused(err) {
				return false, comment.Errorf(comment.Conflict, "another rebuild has changed the number of shards meanwhile: run this again")
			}
			return false, call.Wrap(err, "PutItem %s/%s", settingsPK, settingsSK)
		})
	})
}

// latestGuard returns the latest generation in any guard, 0 if none has one.
func latestGuard(ctx context.Context, client call.BatchGetter, table string) (latest int64, err error) {
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

func fetchSettings(ctx context.Context, client call.BatchGetter, table string) (leaderSettings, error) {
	items, err := fetch(ctx, client, table, []layout.Item{settingsKey()})
	if err != nil {
		return leaderSettings{}, err
	}
	settings := decodeSettings(items[keyOf(settingsKey())])
	return settings, settings.damage
}
