package dynamo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/usage"
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

// idsAtOnce is how many comments one call fetches. They may have 270 KB each, which is known once they are there.
const idsAtOnce = 25

// idsCure is for those whose comments met the bound.
const idsCure = "these comments are large: ask for fewer at once"

// tableProjection asks the table for what a comment shows, and for its product; bareTableProjection leaves the text out.
var (
	tableProjection     = strings.Join([]string{listProjection, All.partitionAttr(), attrDeleted}, ",")
	bareTableProjection = strings.Join([]string{bareProjection, All.partitionAttr(), attrDeleted}, ",")
)

// CommentsByID fetches at most MaxKeysPerGet different comments, consistently: a comment that was just written is there.
// One that does not exist is missing from the answer; one that the table left out, whose item is damaged, or which was not
// fetched because the others cost more than they may, has an error among the failed.
func (s *Store) CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	get := gettingByID{
		store: s, meter: newMeter(float64(len(ids))*Prices{}.CommentUnits(), idsCure), withoutText: withoutText,
		found: make(map[comment.ID]comment.Comment, len(ids)), failed: map[comment.ID]error{},
	}
	for part := range slices.Chunk(ids, idsAtOnce) {
		if err := get.some(ctx, part); err != nil {
			return nil, nil, wrap(err, "BatchGetItem of %d comments", len(ids))
		}
	}
	return get.found, get.failed, nil
}

// gettingByID is the fetching of comments by their ids.
type gettingByID struct {
	store       *Store
	meter       *meter
	withoutText bool
	found       map[comment.ID]comment.Comment
	failed      map[comment.ID]error
}

// some fetches some of the comments, in one call if the table leaves none out, unless those before them cost too much.
func (g *gettingByID) some(ctx context.Context, ids []comment.ID) error {
	if err := g.meter.check(); err != nil {
		for _, id := range ids {
			g.failed[id] = err
		}
		return nil
	}
	want := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(tableProjection)}
	if g.withoutText {
		want.ProjectionExpression = aws.String(bareTableProjection)
	}
	for _, id := range ids {
		want.Keys = append(want.Keys, commentKey(id))
	}
	client := metered{itemGetter: g.store.client}
	items, left, err := getItems(ctx, &client, g.store.table, want)
	g.meter.add(client.units)
	if err != nil {
		return err
	}
	g.decode(ctx, items)
	for _, key := range left {
		g.failed[idOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this comment; ask again in a moment")
	}
	return nil
}

// decode decodes comments, of which no more are kept and expanded than the operation can hold.
func (g *gettingByID) decode(ctx context.Context, items []item) {
	for _, it := range items {
		if noComment(it) {
			continue
		}
		id := idOfKey(it)
		c, err := heldComment(ctx, it, !g.withoutText)
		if err != nil {
			g.failed[id] = err
			continue
		}
		g.found[id] = c
	}
}

// heldComment is the comment of an item, which counts as held by the operation before its text is expanded, and with its text
// afterwards.
func heldComment(ctx context.Context, it item, text bool) (comment.Comment, error) {
	product, err := productOf(it)
	if err != nil {
		return comment.Comment{}, err
	}
	l, err := decodeListed(it, product, text)
	if err != nil {
		return comment.Comment{}, err
	}
	if err := usage.From(ctx).Hold(l.bytes); err != nil {
		return comment.Comment{}, err
	}
	c, err := l.expand()
	if err != nil || l.packed == nil {
		return c, err
	}
	return c, usage.From(ctx).Hold(len(c.Text))
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
