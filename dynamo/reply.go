package dynamo

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// SetReply makes reply the shop's reply to a comment in place of c.Reply; nil deletes it. Of a deleted
// reply its version stays, so that a first reply that arrives late finds that it is none. SetReply
// writes nothing else of the comment, so that edits, votes and decisions may come meanwhile. It returns
// a Conflict error if c.Reply is no longer the comment's reply, and a NotFound error if the comment was
// deleted.
func (s *Store) SetReply(ctx context.Context, c comment.Comment, reply *comment.Reply) error {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	mark, before := rand.Text(), replyVersion(c)
	update, values := layout.ReplyUpdate(reply, before+1, mark)
	condition := layout.SameVersion(0, values) + " AND " + layout.SameReply(c, values)
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, again bool) error {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                           aws.String(s.table),
			Key:                                 layout.CommentKey(c.ID),
			UpdateExpression:                    aws.String(update),
			ConditionExpression:                 aws.String(condition),
			ExpressionAttributeValues:           orNone(values),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, call.NoRetries)
		var refused *types.ConditionalCheckFailedException
		if !errors.As(err, &refused) {
			return err
		}
		return replyRefused(refused.Item, c, reply, mark, again)
	}), "reply to %s", c)
}

// replyRefused returns the outcome of a SetReply whose condition failed, from the item that is there
// instead. The mark is in the reply and not beside it: an edit of the comment has a mark of its own.
func replyRefused(there layout.Item, c comment.Comment, reply *comment.Reply, mark string, again bool) error {
	now, version, wrote := layout.ReplyOf(there)
	switch {
	case layout.NoComment(there):
		return comment.NoComment(c.ID)
	case reply == nil && now == nil, reply != nil && wrote == mark:
		return nil // an earlier try succeeded, or another caller removed it too
	case again && version != replyVersion(c)+1: // else what is there took the place that no try of ours got
		return call.OutcomeUnknown(call.ErrOvertaken, nil)
	}
	return comment.Errorf(comment.Conflict, "another change of the reply came first: read the comment again, and decide anew")
}

// replyVersion returns the version of the reply that a comment has, or that of its deletion, 0 if there
// never was one. Each write adds one, so no version comes twice.
func replyVersion(c comment.Comment) int {
	if c.Reply != nil {
		return c.Reply.Version
	}
	return c.ReplyDeletion
}
