package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/usage"
)

// MaxKeysPerGet is how many items one BatchGetItem can fetch.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const MaxKeysPerGet = 100

// Unprocessed keys are asked for again this often, with waits that double from the first and are drawn at random up to
// their full length. What is left then is reported as failed.
const (
	getTries     = 5
	getFirstWait = 25 * time.Millisecond
)

// itemGetter is the part of the SDK's client that fetches items by key.
type itemGetter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// CommentsByID fetches at most MaxKeysPerGet different comments in one call, consistently: a comment that was just
// written is there. One that does not exist is missing from the answer; one that the table left out, or whose item is
// damaged, has an error among the failed.
func (s *Store) CommentsByID(ctx context.Context, ids []comment.ID) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	keys := make([]item, len(ids))
	for i, id := range ids {
		keys[i] = commentKey(id)
	}
	items, left, err := getItems(ctx, s.client, s.table, types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, nil, wrap(err, "BatchGetItem of %d comments", len(ids))
	}
	found, failed = decodeByID(ctx, items)
	for _, key := range left {
		failed[idOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this comment; ask again in a moment")
	}
	return found, failed, nil
}

// decodeByID decodes comments, of which no more are expanded than the operation can hold.
func decodeByID(ctx context.Context, items []item) (map[comment.ID]comment.Comment, map[comment.ID]error) {
	found := make(map[comment.ID]comment.Comment, len(items))
	failed := map[comment.ID]error{}
	for _, it := range items {
		if noComment(it) {
			continue
		}
		id := idOfKey(it)
		c, err := decodeWhole(it)
		if err == nil {
			err = usage.From(ctx).Hold(len(c.Text))
		}
		if err != nil {
			failed[id] = err
			continue
		}
		found[id] = c
	}
	return found, failed
}

// getItems fetches items by key, asking again for those that the table left unprocessed. What is left after the last try
// is returned.
func getItems(ctx context.Context, client itemGetter, table string, want types.KeysAndAttributes) (items, left []item, err error) {
	for try := 0; ; try++ {
		output, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{table: want},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range output.ConsumedCapacity {
			usage.From(ctx).Consume(unitsOf(&output.ConsumedCapacity[i]))
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
