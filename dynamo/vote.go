package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// hashDigits is the length of a customer's hash in the key of a vote: 128 bits. It is short because
// each recount reads all keys.
const hashDigits = 32

func hashOfVoter(customer string) string { return digestOfAll("vote", customer)[:hashDigits] }

// SetVote replaces a customer's vote about a comment, before, by after. If there was none, the time
// of before is zero. It neither reads nor writes the comment. It returns a Conflict error if before
// is no longer the customer's vote.
func (s *Store) SetVote(ctx context.Context, id comment.ID, before, after comment.CastVote) error {
	s.writing(ctx, id)
	item := layout.VoteItem(id, hashOfVoter(after.By), after)
	condition, values := layout.IfAbsent, layout.Item(nil)
	if !before.At.IsZero() {
		condition, values = layout.VoteCast+" = :cast", layout.Item{":cast": layout.Time(before.At)}
	}
	put := func(ctx context.Context) (there layout.Item, refused bool, err error) {
		_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(s.table), Item: item, ConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.OrNone(values),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, call.NoRetries)
		there, refused = call.FoundInstead(err)
		return there, refused, err
	}
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, again bool) error {
		there, refused, err := put(ctx)
		if _, _, wrong := layout.DecodeVote(there); refused && wrong != nil && before.At.IsZero() { // a vote damaged by hand counts as none
			values = layout.Item{}
			condition = layout.SameAttrs(there, values, layout.AttrWriter, layout.VoteCast)
			there, refused, err = put(ctx)
		}
		switch {
		case !refused:
			return err
		case layout.Casts(there, after):
			return nil // an earlier try succeeded
		case again:
			return call.OutcomeUnknown(call.ErrOvertaken, nil)
		}
		return comment.Errorf(comment.Conflict, "the vote was changed meanwhile: try again")
	}), "vote about %s", id)
}

// VotesBy fetches votes of customers, at most MaxKeysPerGet, consistently. A customer who did not
// vote about a comment is in neither result.
func (s *Store) VotesBy(ctx context.Context, keys []comment.VoteKey) (found map[comment.VoteKey]comment.CastVote, failed map[comment.VoteKey]error, err error) {
	want, of := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, map[[2]string]comment.VoteKey{}
	for _, key := range keys {
		item := layout.VoteKey(key.Comment, hashOfVoter(key.Customer))
		want.Keys = append(want.Keys, item)
		of[keyTexts(item)] = key
	}
	got, err := call.GetItems(ctx, s.client, s.table, want)
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of %d votes", len(keys))
	}
	found, failed = map[comment.VoteKey]comment.CastVote{}, map[comment.VoteKey]error{}
	for _, it := range got.Items {
		if _, vote, err := layout.DecodeVote(it); s.proper(it, err) {
			found[of[keyTexts(it)]] = vote
		}
	}
	for _, key := range got.Left {
		failed[of[keyTexts(key)]] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this vote; ask again in a moment")
	}
	return found, failed, nil
}

func keyTexts(it layout.Item) [2]string {
	r := layout.NewReader(it)
	return [2]string{r.Text(layout.AttrPK), r.Text(layout.AttrSK)}
}
