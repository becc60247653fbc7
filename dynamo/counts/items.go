package counts

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// countCalls is the maximum number of concurrent calls of a Counter, and of one fetch.
const countCalls = 4

// itemKey is a primary key as a comparable value.
type itemKey struct{ partition, sort string }

func keyOf(it layout.Item) itemKey {
	r := layout.NewReader(it)
	return itemKey{r.Text(layout.AttrPK), r.Text(layout.AttrSK)}
}

// fetch gets any number of items by their keys, consistently.
func fetch(ctx context.Context, client call.BatchGetter, table string, keys []layout.Item) (map[itemKey]layout.Item, error) {
	var mu sync.Mutex
	found := make(map[itemKey]layout.Item, len(keys))
	parts := slices.Collect(slices.Chunk(keys, call.MaxKeysPerGet))
	return found, call.ParallelUpTo(ctx, countCalls, len(parts), func(ctx context.Context, i int) error {
		got, err := call.GetItems(ctx, client, table, types.KeysAndAttributes{Keys: parts[i], ConsistentRead: aws.Bool(true)})
		if err != nil {
			return call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(parts[i]), "key"))
		}
		if len(got.Left) > 0 {
			return call.ErrBusy
		}
		mu.Lock()
		defer mu.Unlock()
		for _, it := range got.Items {
			found[keyOf(it)] = it
		}
		return nil
	})
}

// stored is an item as it was read. A write that replaces it depends on that.
type stored struct {
	item layout.Item // empty if there was none
	// damage is why the item cannot be read, else nil. It may be replaced all the same.
	damage error
}
