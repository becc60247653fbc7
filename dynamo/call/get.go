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
	for try := 0; ; try++ {
		output, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{table: want},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range output.ConsumedCapacity {
			usage.From(ctx).Consume(UnitsOf(&output.ConsumedCapacity[i]))
		}
		items = append(items, output.Responses[table]...)
		want.Keys = output.UnprocessedKeys[table].Keys
		if len(want.Keys) == 0 || try == getTries-1 {
			return items, want.Keys, nil
		}
		if err := pause(ctx, getFirstWait<<try); err != nil {
			return nil, nil, err
		}
	}
}
