package counts

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/votes"
)

// refileAll corrects the keys of comments that a scan found to be wrong. Lists follow from the state:
// a comment that is not approved leaves them, and one that is joins those that it lacks. A stream
// record of that is counted like any other.
func (r *recounter) refileAll(ctx context.Context, misfiled []layout.IndexKeys) error {
	for _, keys := range misfiled {
		err := call.Retry(ctx, func() (further bool, err error) { return false, r.refile(ctx, keys) })
		if err != nil {
			return call.Wrap(err, "keys of comment %s", keys.ID)
		}
	}
	return nil
}

// refile reads a comment again, and corrects its keys if they are still wrong, on condition that
// nothing changes meanwhile.
func (r *recounter) refile(ctx context.Context, seen layout.IndexKeys) error {
	key := layout.CommentKey(seen.ID)
	items, err := fetch(ctx, r.client, r.table, []layout.Item{key})
	if err != nil {
		return err
	}
	there := items[keyOf(key)]
	if layout.NoComment(there) {
		return nil
	}
	keys, err := layout.IndexKeysOf(there)
	if err != nil || len(keys.Wrong()) == 0 {
		return nil // the error is that of a change by hand since the scan; the next one reports it
	}
	update, condition, values := keys.Correction()
	err = call.Transact(ctx, r.transactor, []types.TransactWriteItem{{Update: &types.Update{
		TableName: aws.String(r.table), Key: key, UpdateExpression: aws.String(update),
		ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
	}}})
	if err == nil {
		r.refiled.Add(1)
	}
	return err
}

// recountVotes makes right what comments say of their votes.
func (r *recounter) recountVotes(ctx context.Context, ids []comment.ID) error {
	for _, id := range ids {
		wrong, err := call.Retried(ctx, func() (votes.Difference, error) { return votes.Compare(ctx, r.client, r.table, id) })
		if err != nil {
			return err
		}
		if wrong.Detail == "" {
			continue
		}
		if err := r.counter.votes.Recount(ctx, id, votes.AllSlices); err != nil {
			return err
		}
		r.recounted.Add(1)
	}
	return nil
}
