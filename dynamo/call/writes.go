package call

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// A write is tried this often while its outcome is unknown or DynamoDB throttles it. Waits double
// from the first, and each is drawn at random up to its full length. A try times out early enough
// for another one within the timeout of a request. All tries together take some 15 s at most;
// comment.SettleTime relies on that.
const (
	writeTries     = 5
	writeFirstWait = 25 * time.Millisecond
	writeTimeout   = 3 * time.Second
)

// RetryWrite calls write until its outcome is known, up to a number of tries. again tells write
// that an earlier try may have had an effect. An error of RetryWrite means that the write had no
// effect, unless it comes from OutcomeUnknown.
func RetryWrite(ctx context.Context, write func(ctx context.Context, again bool) error) error {
	again := false
	for try := 0; ; try++ {
		inTime, cancel := context.WithTimeout(ctx, writeTimeout)
		err := write(inTime, again)
		cancel()
		if err == nil || errors.Is(err, ErrOvertaken) {
			return err
		}
		switch comment.KindOf(err) {
		case comment.NotFound, comment.Conflict, comment.KeyReused, comment.AlreadyWritten:
			return err // write found out what is in the table: a retry would not help
		}
		again = again || mayHaveHappened(err)
		if try < writeTries-1 && Transient(Wrap(err, "try %d", try)) {
			if ended := pause(ctx, writeFirstWait<<try); ended == nil {
				continue
			}
		}
		if again {
			return OutcomeUnknown(err, ctx.Err())
		}
		return err
	}
}

// ErrOvertaken is the cause for an edit whose outcome can no longer be found out.
var ErrOvertaken = errors.New("the comment was changed or deleted meanwhile")

// mayHaveHappened reports whether a try that failed may have had an effect. A request that DynamoDB
// refuses as invalid, or throttles, had none. TransactionInProgressException does not count as a
// refusal: the transaction under way with the same token can be an earlier copy of this call.
func mayHaveHappened(err error) bool {
	code := CodeOf(err)
	refused := code != "" && meaningOf(err) != broken && code != "TransactionInProgressException"
	if refused && !errors.As(err, new(*comment.Error)) { // write wraps errors, perhaps of a call other than the write
		return false
	}
	switch comment.KindOf(Wrap(err, "write")) {
	case comment.Unavailable, comment.Timeout, comment.Canceled, comment.Throttled:
		return true
	}
	return false
}

// OutcomeUnknown returns the error of a write that may or may not have happened. Its kind is that
// of ended, the error that ended the request, and Unavailable if ended is nil.
func OutcomeUnknown(err, ended error) error {
	kind := comment.Unavailable
	if ended != nil {
		kind = comment.KindOf(ended)
	}
	return &comment.Error{
		Kind:    kind,
		Message: "whether this was written is unknown: read to see; what had an idempotency key can be sent again with the same one",
		Cause:   err,
	}
}

// Transactor is the part of the SDK's client that changes several items at once.
type Transactor interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Transact writes items, all or none. If a condition failed, because another write came first, it
// returns a Throttled error.
func Transact(ctx context.Context, client Transactor, writes []types.TransactWriteItem) error {
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	if Refused(err) {
		return &comment.Error{Kind: comment.Throttled, Message: "another write changed the same items first; try again", Cause: err}
	}
	return Wrap(err, "TransactWriteItems of %s", comment.Amount(len(writes), "item"))
}

// PutIf returns a put of an item on a condition; unconditionally if that is empty. It is a part of
// a transaction, or a write of its own by Put.
func PutIf(table string, it layout.Item, condition string, values layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(table), Item: it, ConditionExpression: orNone(condition), ExpressionAttributeValues: layout.OrNone(values),
	}}
}

// DeleteIf does the same for the delete of an item, by Delete.
func DeleteIf(table string, key layout.Item, condition string, values layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: aws.String(table), Key: key, ConditionExpression: orNone(condition), ExpressionAttributeValues: layout.OrNone(values),
	}}
}

func orNone(condition string) *string {
	if condition == "" {
		return nil
	}
	return aws.String(condition)
}

// UpdateIf returns an update of an item on a condition. It is a part of a transaction, or a write
// of its own by Update.
func UpdateIf(table string, key layout.Item, expression, condition string, values layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table), Key: key, UpdateExpression: aws.String(expression),
		ConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.OrNone(values),
	}}
}

// Putter is the part of the SDK's client that puts an item.
type Putter interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Put makes the put that PutIf returned, in one try: only the caller knows what another try means.
// If the condition does not hold, FoundInstead returns the item there.
func Put(ctx context.Context, client Putter, write types.TransactWriteItem) error {
	input := &dynamodb.PutItemInput{
		TableName: write.Put.TableName, Item: write.Put.Item,
		ConditionExpression: write.Put.ConditionExpression, ExpressionAttributeValues: write.Put.ExpressionAttributeValues,
	}
	if input.ConditionExpression != nil {
		input.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	_, err := client.PutItem(ctx, input, NoRetries)
	return err
}

// Swap puts an item on a condition, with the retries of the SDK. If the condition does not hold, it
// returns the stored item and a Conflict error: the caller knows whether an earlier try put it.
func Swap(ctx context.Context, client Putter, table string, it layout.Item, condition string, values layout.Item) (there layout.Item, err error) {
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: it, ConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.OrNone(values),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if there, refused := FoundInstead(err); refused {
		return there, &comment.Error{Kind: comment.Conflict, Message: "another process wrote this meanwhile", Cause: err}
	}
	return nil, err
}

// Updater is the part of the SDK's client that updates an item.
type Updater interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Update does the same as Put with the update that UpdateIf returned.
func Update(ctx context.Context, client Updater, write types.TransactWriteItem) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: write.Update.TableName, Key: write.Update.Key, UpdateExpression: write.Update.UpdateExpression, ConditionExpression: write.Update.ConditionExpression,
		ExpressionAttributeNames: write.Update.ExpressionAttributeNames, ExpressionAttributeValues: write.Update.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, NoRetries)
	return err
}

// Deleter is the part of the SDK's client that deletes an item.
type Deleter interface {
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Delete does the same as Put with the delete that DeleteIf returned.
func Delete(ctx context.Context, client Deleter, write types.TransactWriteItem) error {
	_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: write.Delete.TableName, Key: write.Delete.Key, ConditionExpression: write.Delete.ConditionExpression,
		ExpressionAttributeNames: write.Delete.ExpressionAttributeNames, ExpressionAttributeValues: write.Delete.ExpressionAttributeValues,
	}, NoRetries)
	return err
}

// BatchWriter is a client that writes several items without conditions.
type BatchWriter interface {
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// MaxItemsPerWrite is how many items one BatchWriteItem can write.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const MaxItemsPerWrite = 25

// WriteAll puts and deletes any number of items without conditions, and retries those that DynamoDB
// left unprocessed. Repeating a write changes nothing.
func WriteAll(ctx context.Context, client BatchWriter, table string, requests []types.WriteRequest) error {
	for part := range slices.Chunk(requests, MaxItemsPerWrite) {
		left := map[string][]types.WriteRequest{table: part}
		err := Retry(ctx, func() (progress bool, err error) {
			output, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
			if err != nil {
				return false, Wrap(err, "BatchWriteItem of %s", comment.Amount(len(part), "item"))
			}
			progress = len(output.UnprocessedItems[table]) < len(left[table])
			if left = output.UnprocessedItems; len(left) > 0 {
				return progress, ErrBusy
			}
			return progress, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteAll deletes any number of items by their keys.
func DeleteAll(ctx context.Context, client BatchWriter, table string, keys []layout.Item) error {
	requests := make([]types.WriteRequest, len(keys))
	for i, key := range keys {
		requests[i].DeleteRequest = &types.DeleteRequest{Key: key}
	}
	return WriteAll(ctx, client, table, requests)
}
