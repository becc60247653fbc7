package call

import (
	"context"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/internal/usage"
)

// Querier is the part of the SDK's client that queries the table and its indexes.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// ScanClient is the part of the SDK's client that reads whole tables and whole lists.
type ScanClient interface {
	Querier
	dynamodb.ScanAPIClient
	dynamodb.DescribeTableAPIClient
}

// ItemGetter is the part of the SDK's client that reads single items.
type ItemGetter interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Item reads an item consistently. It returns nil if there is none. It accounts for the call in the
// operation of the context, and wraps errors as Wrap does.
func Item(ctx context.Context, client ItemGetter, table string, key layout.Item, call string, args ...any) (layout.Item, error) {
	output, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, Wrap(err, call, args...)
	}
	usage.From(ctx).Consume(1, UnitsOf(output.ConsumedCapacity))
	return output.Item, nil
}

// Answers yields the answers of a query until its end. It makes each call with the retries of
// Retry. what names the data in errors. The last pair may be an error.
func Answers(ctx context.Context, client Querier, input *dynamodb.QueryInput, what string) iter.Seq2[*dynamodb.QueryOutput, error] {
	return func(yield func(*dynamodb.QueryOutput, error) bool) {
		for next := *input; ; {
			output, err := Retried(ctx, func() (*dynamodb.QueryOutput, error) {
				output, err := client.Query(ctx, &next)
				return output, Wrap(err, "Query %s", what)
			})
			if !yield(output, err) || err != nil || len(output.LastEvaluatedKey) == 0 {
				return
			}
			next.ExclusiveStartKey = output.LastEvaluatedKey
		}
	}
}

// Items yields the items of Answers.
func Items(ctx context.Context, client Querier, input *dynamodb.QueryInput, what string) iter.Seq2[layout.Item, error] {
	return func(yield func(layout.Item, error) bool) {
		for output, err := range Answers(ctx, client, input, what) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, it := range output.Items {
				if !yield(it, nil) {
					return
				}
			}
		}
	}
}

// ScanAnswers does the same as Answers for a scan. It wraps errors as Wrap does.
func ScanAnswers(ctx context.Context, client dynamodb.ScanAPIClient, input *dynamodb.ScanInput, call string, args ...any) iter.Seq2[*dynamodb.ScanOutput, error] {
	return func(yield func(*dynamodb.ScanOutput, error) bool) {
		for next := *input; ; {
			output, err := Retried(ctx, func() (*dynamodb.ScanOutput, error) {
				output, err := client.Scan(ctx, &next)
				return output, Wrap(err, call, args...)
			})
			if !yield(output, err) || err != nil || len(output.LastEvaluatedKey) == 0 {
				return
			}
			next.ExclusiveStartKey = output.LastEvaluatedKey
		}
	}
}

// PartitionInput returns a consistent query of the items of a partition of the table whose sort
// keys have a prefix; of all if that is empty.
func PartitionInput(table string, key types.AttributeValue, prefix string) *dynamodb.QueryInput {
	condition, values := layout.AttrPK+" = :key", layout.Item{":key": key}
	if prefix != "" {
		condition += " AND begins_with(" + layout.AttrSK + ", :prefix)"
		values[":prefix"] = layout.Text(prefix)
	}
	return &dynamodb.QueryInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	}
}

// Partition returns the items of a partition of the table, read consistently, and the read units
// consumed.
func Partition(ctx context.Context, client Querier, table string, key types.AttributeValue, what string) (items []layout.Item, units float64, err error) {
	input := PartitionInput(table, key, "")
	input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	for output, err := range Answers(ctx, client, input, what) {
		if err != nil {
			return nil, units, err
		}
		items, units = append(items, output.Items...), units+UnitsOf(output.ConsumedCapacity)
	}
	return items, units, nil
}

// DefaultScanCalls is how many calls a scan makes in parallel by default.
const DefaultScanCalls = 4

// SegmentsPerCall is how many segments of the table each parallel call of a scan gets. Segments
// differ in size: with several for each call, the scan does not end with one call reading the
// largest segment while the others are idle.
const SegmentsPerCall = 4

// BatchGetter is the part of the SDK's client that fetches items by key.
type BatchGetter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// MaxKeysPerGet is how many items one BatchGetItem can fetch.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const MaxKeysPerGet = 100

// Unprocessed keys are retried this often. Waits double from the first, and each is drawn at random
// up to its full length.
const (
	getTries     = 5
	getFirstWait = 25 * time.Millisecond
)

// Got is the result of GetItems.
type Got struct {
	// Items are in no order.
	Items []layout.Item
	// Left has the keys that DynamoDB left unprocessed even at the last try. Keys without an item
	// are neither here nor in Items.
	Left []layout.Item
	// Calls is the number of calls, and Units the read units that they consumed.
	Calls int
	Units float64
}

// GetItems fetches items by key and retries those that DynamoDB left unprocessed. It accounts for
// its calls in the operation of the context. With an error, it returns only Calls and Units.
func GetItems(ctx context.Context, client BatchGetter, table string, want types.KeysAndAttributes) (got Got, err error) {
	for try := 0; ; try++ {
		output, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{table: want},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return Got{Calls: got.Calls, Units: got.Units}, err
		}
		units := unitsOf(output.ConsumedCapacity)
		usage.From(ctx).Consume(1, units)
		got.Calls, got.Units = got.Calls+1, got.Units+units
		got.Items = append(got.Items, output.Responses[table]...)
		want.Keys = output.UnprocessedKeys[table].Keys
		if len(want.Keys) == 0 || try == getTries-1 {
			got.Left = want.Keys
			return got, nil
		}
		if err := pause(ctx, getFirstWait<<try); err != nil {
			return Got{Calls: got.Calls, Units: got.Units}, err
		}
	}
}

// UnitsOf returns the units that a call consumed; 0 if its answer does not have them.
func UnitsOf(consumed *types.ConsumedCapacity) float64 {
	if consumed == nil {
		return 0
	}
	return aws.ToFloat64(consumed.CapacityUnits)
}

func unitsOf(consumed []types.ConsumedCapacity) (sum float64) {
	for i := range consumed {
		sum += UnitsOf(&consumed[i])
	}
	return sum
}

// MaxAtOnce is how many calls Parallel makes at a time.
const MaxAtOnce = 16

// Parallel calls do for every i below number, at most MaxAtOnce at a time. The first error cancels
// the other calls and is returned. A panic of do becomes an error.
//
// A single call runs on the caller's goroutine: calls of the SDK are so deep that the stack of a
// new one would have to grow several times.
func Parallel(ctx context.Context, number int, do func(ctx context.Context, i int) error) (err error) {
	if number == 1 {
		defer task.Recover(&err)
		return do(ctx, 0)
	}
	return ParallelUpTo(ctx, MaxAtOnce, number, do)
}

// ParallelUpTo does the same as Parallel with another maximum at a time, on other goroutines.
func ParallelUpTo(ctx context.Context, atOnce, number int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range number {
		group.Go(task.Guarded(func() error { return do(ctx, i) }))
	}
	return group.Wait()
}
