package call

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// MaxKeysPerGet is how many items one BatchGetItem can fetch.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const MaxKeysPerGet = 100

// Unprocessed keys are retried this often. Waits double from the first, and each is drawn at random
// up to its full length.
const (
	getTries     = 5
	getFirstWait = 25 * time.Millisecond
)

// BatchGetter is the part of the SDK's client that fetches items by key.
type BatchGetter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// GetItems fetches items by key and retries those that DynamoDB left unprocessed. Keys that are
// still unprocessed after the last try are returned as left. Items come in no order, and keys
// without an item are in neither.
func GetItems(ctx context.Context, client BatchGetter, table string, want types.KeysAndAttributes) (items, left []layout.Item, err error) {
	got, err := GetMetered(ctx, client, table, want)
	return got.Items, got.Left, err
}

// Got is what GetMetered fetched, and what that took.
type Got struct {
	Items, Left []layout.Item
	Calls       int
	Units       float64 // read units
}

// GetEach is GetItems, but decodes the items. It makes no maps of them, see [Query].
func GetEach[T any](
	ctx context.Context, client BatchGetter, table string, want types.KeysAndAttributes, decode func(*layout.Reader) T,
) (decoded []T, left []layout.Item, err error) {
	each := eachDecoded[T]{decode: decode}
	got, err := getAll(ctx, want, func(want types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error) {
		output, err := take(ctx, &taker{items: &each}, func(ctx context.Context) (*dynamodb.BatchGetItemOutput, []layout.Item, error) {
			output, err := batchGet(ctx, client, table, want)
			if err != nil {
				return nil, nil, err
			}
			items := output.Responses[table]
			output.Responses = nil
			return output, items, nil
		})
		decoded = append(decoded, each.items...)
		return output, err
	}, table)
	return decoded, got.Left, err
}

// eachDecoded are the decoded items of one answer.
type eachDecoded[T any] struct {
	decode func(*layout.Reader) T
	items  []T
}

// Begin implements [Taker].
func (e *eachDecoded[T]) Begin(items int) { e.items = make([]T, 0, items) }

// Take implements [Taker].
func (e *eachDecoded[T]) Take(item *layout.Reader) { e.items = append(e.items, e.decode(item)) }

// GetMetered is GetItems, and says what it took.
func GetMetered(ctx context.Context, client BatchGetter, table string, want types.KeysAndAttributes) (got Got, err error) {
	return getAll(ctx, want, func(want types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error) {
		return batchGet(ctx, client, table, want)
	}, table)
}

func batchGet(ctx context.Context, client BatchGetter, table string, want types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error) {
	return client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{table: want},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
}

// getAll gets what is wanted, and again what was left unprocessed.
func getAll(
	ctx context.Context, want types.KeysAndAttributes, get func(types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error), table string,
) (got Got, err error) {
	for try := 0; ; try++ {
		output, err := get(want)
		if err != nil {
			return Got{}, err
		}
		got.Calls++
		for i := range output.ConsumedCapacity {
			got.Units += UnitsOf(&output.ConsumedCapacity[i])
		}
		got.Items = append(got.Items, output.Responses[table]...)
		want.Keys = output.UnprocessedKeys[table].Keys
		if len(want.Keys) == 0 || try == getTries-1 {
			got.Left = want.Keys
			usage.From(ctx).Consume(got.Calls, got.Units)
			return got, nil
		}
		if err := pause(ctx, getFirstWait<<try); err != nil {
			return Got{}, err
		}
	}
}
