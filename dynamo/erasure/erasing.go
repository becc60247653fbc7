package erasure

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
)

// erasing is an erasure under way.
type erasing struct {
	*Eraser
	author comment.Author
	work   *leases.Work
	show   func(comment.Erasure)

	mu       sync.Mutex // guards progress
	progress progress
}

// update changes the progress, which the next heartbeat saves.
func (r *erasing) update(change func(*progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

func (r *erasing) snapshot() progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}

// delete deletes an item if a condition holds, and reports whether it did.
func (r *erasing) delete(ctx context.Context, key layout.Item, condition string, values layout.Item) (gone bool, err error) {
	gone, err = r.write(ctx, func() (*types.ConsumedCapacity, error) {
		output, err := r.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: aws.String(r.table), Key: key, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, call.NoRetries)
		if err != nil {
			return nil, err
		}
		return output.ConsumedCapacity, nil
	})
	return gone, call.Wrap(err, "DeleteItem of an erasure")
}

// write calls a function that writes, with retries, and reports whether its condition held. After a
// lost answer it may report false although the write happened.
func (r *erasing) write(ctx context.Context, write func() (*types.ConsumedCapacity, error)) (done bool, err error) {
	err = call.Retry(ctx, func() (further bool, err error) {
		consumed, err := write()
		if call.Refused(err) {
			return false, nil
		}
		if done = err == nil; done {
			r.update(func(p *progress) { p.report.WriteUnits += call.UnitsOf(consumed) })
		}
		return false, call.Wrap(err, "write of an erasure")
	})
	return done, err
}

// partition returns a comment's item and those beside it.
func (r *erasing) partition(ctx context.Context, id comment.ID) ([]layout.Item, error) {
	items, units, err := call.Partition(ctx, r.client, r.table, layout.CommentKey(id)[layout.AttrPK], "items of a comment")
	r.read(units)
	return items, err
}

// read counts read units.
func (r *erasing) read(units float64) {
	r.update(func(p *progress) { p.report.ReadUnits += units })
}
