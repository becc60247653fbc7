package dynamo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// addOnly writes a comment unless its author has another about the product, in any state. The item
// at layout.OneKey decides between concurrent adds. Comments that were imported, or written without
// OnePerCustomer, have no such item: the index of the author's comments finds them.
func (s *Store) addOnly(ctx context.Context, c comment.Comment) (comment.Comment, error) {
	about := comment.CustomerProduct{Customer: c.Author.ID, Product: c.ProductID}
	found, err := s.ownOfProducts(ctx, []comment.CustomerProduct{about}, true)
	if err != nil {
		return c, err
	}
	added, earlier, gone := c, found[about].ID, comment.ID("")
	err = call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		if earlier == "" {
			err := s.transact(ctx, s.putNew(layout.Encode(c)), s.putOne(c, about, gone))
			var canceled *types.TransactionCanceledException
			if !call.Refused(err) || !errors.As(err, &canceled) {
				return err
			}
			if aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
				return nil // the comment was written by an earlier try: no other has its ID
			}
		}
		var err error
		if added, gone, err = s.addBeside(ctx, c, about, earlier); gone != "" {
			earlier = ""
		}
		return err
	})
	return added, err
}

// addBeside returns the outcome of an add if there is an earlier comment about the product. That is
// the current comment if the add repeats it, else an AlreadyWritten error. If earlier is empty, the
// item at layout.OneKey names the comment. If the comment is gone, addBeside returns its ID with an
// error: the next try can replace it.
func (s *Store) addBeside(ctx context.Context, c comment.Comment, about comment.CustomerProduct, earlier comment.ID) (_ comment.Comment, gone comment.ID, err error) {
	it, err := s.firstAt(ctx, layout.OneKey(about))
	if err != nil {
		return c, "", err
	}
	if earlier != "" && it.id != earlier {
		it = first{id: earlier} // the item is not of that comment
	}
	deleted := comment.Errorf(comment.Unavailable, "the customer's earlier comment was deleted just now; try again")
	if it.id == "" {
		return c, "", deleted
	}
	now, err := s.Comment(ctx, it.id)
	switch said := digestOf(c); {
	case comment.KindOf(err) == comment.NotFound:
		return c, it.id, deleted
	case err == nil && (it.digest == said || it.digest == "" && digestOf(now) == said):
		return now, "", nil
	case err == nil, errors.Is(err, comment.ErrImproper):
		return c, "", &comment.Error{
			Kind: comment.AlreadyWritten, Earlier: string(it.id),
			Message: "this customer has a comment about this product already: edit that one, or delete it first",
		}
	}
	return c, "", err
}

// putOne returns the put of the item that makes a comment its author's only one about the product.
// It replaces the item of a comment that is gone, if any.
func (s *Store) putOne(c comment.Comment, about comment.CustomerProduct, gone comment.ID) types.TransactWriteItem {
	it := layout.OneKey(about)
	it[layout.AttrFirst], it[attrDigest] = layout.Text(string(c.ID)), layout.Text(digestOf(c))
	if gone == "" {
		return s.putNew(it)
	}
	return call.PutIf(s.table, it, layout.IfAbsent+" OR "+layout.AttrFirst+" = :gone", layout.Item{":gone": layout.Text(string(gone))})
}

// release lets the author of a deleted comment write about the product again. If that fails, the
// next add finds that the comment is gone.
func (s *Store) release(ctx context.Context, c comment.Comment) {
	_, _ = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(s.table),
		Key:                       layout.OneKey(comment.CustomerProduct{Customer: c.Author.ID, Product: c.ProductID}),
		ConditionExpression:       aws.String(layout.AttrFirst + " = :id"),
		ExpressionAttributeValues: layout.Item{":id": layout.Text(string(c.ID))},
	})
}

// attrDigest has a hash of the comment in layout.AttrFirst as it was added: S, in an item that is
// written together with a comment.
const attrDigest = "d"

// transact makes writes, all or none, in one try.
func (s *Store) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes}, call.NoRetries)
	return err
}

// putNew returns the put of an item, which fails if there is one with its key.
func (s *Store) putNew(item layout.Item) types.TransactWriteItem {
	return call.PutIf(s.table, item, layout.IfAbsent, nil)
}

// first identifies the comment that was added together with an item: its ID, and a hash of its
// content then.
type first struct {
	id     comment.ID
	digest string
}

// firstAt returns the first comment of the item with a key. Its id is empty if there is no item.
func (s *Store) firstAt(ctx context.Context, key layout.Item) (first, error) {
	it, err := s.get(ctx, key, call.NoRetries)
	if err != nil {
		return first{}, &comment.Error{Kind: comment.Unavailable, Message: "what was written before could not be looked up; try again", Cause: err}
	}
	if len(it) == 0 {
		return first{}, nil
	}
	r := layout.NewReader(it)
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
	if len(c.Media) > 0 || c.Verified { // others keep the digest that they had before there were traits
		content = append(content, c.Media, c.Verified)
	}
	return digestOfAll(content...)
}

// digestOfAll returns layout.HashOf in hexadecimal.
func digestOfAll(values ...any) string { return hex.EncodeToString(layout.HashOf(values...)) }
