package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// attrDigest is a hash of the content of layout.AttrFirst when that was added: S, of an item that is
// written together with a comment.
const attrDigest = "d"

// addTransaction writes a comment, and the item that lets it be written once.
func (s *Store) addTransaction(item layout.Item, once *types.Put) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName:           aws.String(s.table),
			Item:                item,
			ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
		}},
		{Put: once},
	}}
}

// wasAdded reports whether an addTransaction was canceled because an earlier try had written the
// comment: no other has its ID.
func wasAdded(canceled *types.TransactionCanceledException) bool {
	return aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed"
}

// first is what an item remembers of the comment that was added with it: its ID, and a hash of what it
// said then.
type first struct {
	id     comment.ID
	digest string
}

// firstAt returns what the item with a key remembers. Without an item, its id is empty.
func (s *Store) firstAt(ctx context.Context, key layout.Item) (first, error) {
	output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: key, ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}, call.NoRetries)
	if err != nil {
		return first{}, &comment.Error{Kind: comment.Unavailable, Message: "what was written before could not be looked up; try again", Cause: err}
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	if len(output.Item) == 0 {
		return first{}, nil
	}
	r := layout.NewReader(output.Item)
	id, digest := r.Text(layout.AttrFirst), r.Text(attrDigest)
	if err := r.Err(); err != nil {
		return first{}, fmt.Errorf("item of a first comment: %w", err)
	}
	parsed, err := comment.ParseID(id)
	return first{parsed, digest}, err
}

// digestOf returns a hash of a new comment's content. It is the same for two comments that differ
// only in ID and time.
func digestOf(c comment.Comment) string {
	content := []any{c.ProductID, c.Rating, c.Language, c.Title, c.Text, c.Author.ID, c.Author.Name}
	if len(c.Media) > 0 || c.Verified { // others have the digest that they had before there were traits
		content = append(content, c.Media, c.Verified)
	}
	return digestOfAll(content...)
}

// digestOfAll returns a hash of values. Values whose JSON differs have different hashes.
func digestOfAll(values ...any) string { return hex.EncodeToString(hashOf(values...)) }

// hashOf returns a hash of values, as bytes.
func hashOf(values ...any) []byte {
	text, err := json.Marshal(values)
	if err != nil {
		panic("dynamo: " + err.Error()) // texts and numbers only
	}
	hash := sha256.Sum256(text)
	return hash[:]
}
