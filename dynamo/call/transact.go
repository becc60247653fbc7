package call

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Transactor is the part of the SDK's client that changes several items at once.
type Transactor interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Transact writes items, all or none. A condition that failed, since another write came first, is
// an error of the kind Throttled.
func Transact(ctx context.Context, client Transactor, writes []types.TransactWriteItem) error {
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) && HasReason(canceled, "ConditionalCheckFailed") {
		return &comment.Error{Kind: comment.Throttled, Message: "another write changed the same items first; try again", Cause: err}
	}
	return Wrap(err, "TransactWriteItems of %d items", len(writes))
}

// PutIf returns the part of a transaction that puts an item under a condition, or unconditionally
// if that is empty.
func PutIf(table string, it layout.Item, condition string, values layout.Item) types.TransactWriteItem {
	put := &types.Put{TableName: aws.String(table), Item: it}
	if condition != "" {
		put.ConditionExpression = aws.String(condition)
	}
	if len(values) > 0 {
		put.ExpressionAttributeValues = values
	}
	return types.TransactWriteItem{Put: put}
}
