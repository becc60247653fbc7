package dynamo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

const (
	// KeyLifetime is how long an idempotency key is remembered, at least.
	KeyLifetime = 24 * time.Hour
	// clockSkew is how far the clocks of a table's servers may differ before a key expires too
	// early.
	clockSkew = time.Hour
)

// Items of idempotency keys, and attributes that only writes use. They are in no index.
const (
	keyPKPrefix = "KEY#"
	keySK       = "K"
	attrFirst   = "c" // S, the ID of the comment that the key was first used for
	attrDigest  = "d" // S, a hash of that comment's content when it was added
)

// Comment returns the current comment with an ID. It returns a NotFound error if there is none, and
// comment.ErrImproper if its item is not a proper comment.
func (s *Store) Comment(ctx context.Context, id comment.ID) (comment.Comment, error) {
	found, failed, err := s.CommentsByID(ctx, []comment.ID{id}, false)
	if err = errors.Join(err, failed[id]); err != nil {
		return comment.Comment{}, err
	}
	c, ok := found[id]
	if !ok {
		return c, notFound(id)
	}
	return c, nil
}

// Add writes a new comment with a new ID. With a key, a repeat by the same author within
// KeyLifetime returns the comment that the first call added, as it was then. If the content differs
// from that of the first call, Add returns a KeyReused error.
func (s *Store) Add(ctx context.Context, c comment.Comment, key string) (comment.Comment, error) {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	if key == "" {
		return c, call.Wrap(s.add(ctx, c), "add %s", c)
	}
	added, err := s.addOnce(ctx, c, key)
	return added, call.Wrap(err, "add %s with a key", c)
}

// writing notes that a comment is about to be written, and in which span.
func (s *Store) writing(ctx context.Context, id comment.ID) {
	usage.From(ctx).Write()
	if s.options.Writes != nil {
		s.options.Writes.Note(ctx, layout.NewReader(layout.CommentKey(id)).Text(layout.AttrPK))
	}
}

func (s *Store) add(ctx context.Context, c comment.Comment) error {
	return call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:           aws.String(s.table),
			Item:                layout.Encode(c),
			ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
		}, call.NoRetries)
		var there *types.ConditionalCheckFailedException
		if errors.As(err, &there) {
			return nil // an earlier try succeeded: no other comment has this ID
		}
		return err
	})
}

// addOnce writes the comment and the key in one transaction, unless the key exists.
func (s *Store) addOnce(ctx context.Context, c comment.Comment, key string) (comment.Comment, error) {
	keyItem := keyItemOf(c, key, s.now())
	added := c
	err := call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.client.TransactWriteItems(ctx, s.addTransaction(c, keyItem), call.NoRetries)
		var canceled *types.TransactionCanceledException
		if errors.As(err, &canceled) && call.HasReason(canceled, "ConditionalCheckFailed") {
			added, err = s.firstOf(ctx, keyItem, c)
		}
		return err
	})
	return added, err
}

func (s *Store) addTransaction(c comment.Comment, keyItem layout.Item) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName:                 aws.String(s.table),
			Item:                      keyItem,
			ConditionExpression:       aws.String("attribute_not_exists(" + layout.AttrPK + ") OR " + layout.AttrTTL + " < :now"),
			ExpressionAttributeValues: layout.Item{":now": layout.Number(s.now().Unix())},
		}},
		{Put: &types.Put{
			TableName:           aws.String(s.table),
			Item:                layout.Encode(c),
			ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
		}},
	}}
}

// firstOf returns the comment that a key was first used for, if c has the same content. Its errors
// leave open whether that comment was written by an earlier try of this call.
func (s *Store) firstOf(ctx context.Context, keyItem layout.Item, c comment.Comment) (comment.Comment, error) {
	output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            layout.Item{layout.AttrPK: keyItem[layout.AttrPK], layout.AttrSK: keyItem[layout.AttrSK]},
		ConsistentRead: aws.Bool(true),
	}, call.NoRetries)
	if err != nil {
		return c, &comment.Error{Kind: comment.Unavailable, Message: "the idempotency key could not be looked up; try again", Cause: err}
	}
	if len(output.Item) == 0 {
		return c, comment.Errorf(comment.Unavailable, "the idempotency key was just forgotten; try again")
	}
	r := layout.NewReader(output.Item)
	first, digest := r.Text(attrFirst), r.Text(attrDigest)
	if err := r.Err(); err != nil {
		return c, fmt.Errorf("item of an idempotency key: %w", err)
	}
	if digest != digestOf(c) {
		return c, comment.Errorf(comment.KeyReused, "this idempotency key was used for another comment; use a new one for each")
	}
	c.ID, err = comment.ParseID(first)
	return c, err
}

// keyItemOf returns the item that remembers an author's key and the comment that it was used for.
// The item holds no content of the comment, which must disappear when the comment is deleted.
func keyItemOf(c comment.Comment, key string, now time.Time) layout.Item {
	return layout.Item{
		layout.AttrPK:  layout.Text(keyPKPrefix + digestOfAll(c.Author.ID, key)),
		layout.AttrSK:  layout.Text(keySK),
		layout.AttrTTL: layout.Number(now.Add(KeyLifetime + clockSkew).Unix()),
		attrFirst:      layout.Text(string(c.ID)),
		attrDigest:     layout.Text(digestOf(c)),
	}
}

// digestOf returns a hash of a new comment's content. It is the same for two comments that differ
// only in ID and time.
func digestOf(c comment.Comment) string {
	return digestOfAll(c.ProductID, c.Rating, c.Language, c.Title, c.Text, c.Author.ID, c.Author.Name)
}

// digestOfAll returns a hash of values. Values whose JSON differs have different hashes.
func digestOfAll(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic("dynamo: " + err.Error()) // texts and numbers only
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// Replace writes after in place of before, and moves it in every index where its key changes. It
// returns a Conflict error if another change came first, and a NotFound error if the comment was
// deleted.
func (s *Store) Replace(ctx context.Context, before, after comment.Comment) error {
	s.writing(ctx, after.ID)
	defer s.wrote(after.ProductID)
	mark := rand.Text()
	changed := layout.Encode(after)
	changed[layout.AttrMark] = layout.Text(mark)
	condition, values := versionIs(before.Version)
	defer s.moved(before, after)
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, again bool) error {
		s.moved(before, after)
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           aws.String(s.table),
			Item:                                changed,
			ConditionExpression:                 condition,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, call.NoRetries)
		var refused *types.ConditionalCheckFailedException
		if !errors.As(err, &refused) {
			return err
		}
		return replaced(refused.Item, mark, after, again)
	}), "edit %s", after)
}

// replaced returns the outcome of an edit whose condition failed, from the item that is there
// instead.
func replaced(there layout.Item, mark string, after comment.Comment, again bool) error {
	if isMarked(there, mark) {
		return nil // an earlier try succeeded
	}
	now, err := layout.Decode(there)
	switch {
	case again && (err != nil || now.Version > after.Version):
		return call.OutcomeUnknown(call.ErrOvertaken, nil) // an earlier try of ours may have come before that
	case layout.NoComment(there):
		return notFound(after.ID)
	}
	return comment.Errorf(comment.Conflict, "another change came first: read the comment again, and decide anew")
}

// Delete replaces a comment with a tombstone. It returns a Conflict error if another change came
// first, and a NotFound error if the comment is already deleted. A comment without a version, of
// which only the ID is known, is deleted as it is.
func (s *Store) Delete(ctx context.Context, c comment.Comment) error {
	s.writing(ctx, c.ID)
	defer s.wrote(c.ProductID)
	mark := rand.Text()
	condition, values := versionIs(c.Version)
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           aws.String(s.table),
			Item:                                layout.Tombstone(c.ID, mark, s.now()),
			ConditionExpression:                 condition,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, call.NoRetries)
		var refused *types.ConditionalCheckFailedException
		switch {
		case !errors.As(err, &refused):
			return err
		case isMarked(refused.Item, mark):
			return nil // an earlier try succeeded
		case layout.NoComment(refused.Item):
			return notFound(c.ID)
		}
		return comment.Errorf(comment.Conflict, "the comment was changed meanwhile: read it again, and decide anew")
	}), "delete %s", c)
}

// isMarked reports whether an item has the mark of a write.
func isMarked(it layout.Item, mark string) bool {
	r := layout.NewReader(it)
	return r.Text(layout.AttrMark) == mark
}

// versionIs returns the condition that a comment exists and has a version, or any if it is 0. The
// item of a first version has no version attribute.
func versionIs(version int) (condition *string, values layout.Item) {
	const exists = "attribute_exists(" + layout.AttrPK + ") AND attribute_not_exists(" + layout.AttrDeleted + ")"
	switch version {
	case 0:
		return aws.String(exists), nil
	case 1:
		return aws.String(exists + " AND attribute_not_exists(" + layout.AttrVersion + ")"), nil
	}
	return aws.String(layout.AttrVersion + " = :version"), layout.Item{":version": layout.Number(int64(version))}
}

func notFound(id comment.ID) error {
	return comment.Errorf(comment.NotFound, "there is no comment %s, or no longer", id)
}
