package dynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// OwnComments returns a page of the comments of a customer, in every state. It finds them by an
// index that follows the table within moments, and reads each by its ID as it is now.
func (s *Store) OwnComments(ctx context.Context, q comment.OwnQuery) (comment.OwnPage, error) {
	wanted := maxOwn
	if q.Status == nil {
		wanted = q.Size
	}
	ids, more, err := s.ownIDs(ctx, q.Customer, q.After, wanted)
	if err != nil {
		return comment.OwnPage{}, call.Wrap(err, "%s", q)
	}
	page := comment.OwnPage{HasNext: more}
	for part := range slices.Chunk(ids, idsAtOnce) {
		comments, err := s.inOrder(ctx, part, q.WithoutText)
		if err != nil {
			return comment.OwnPage{}, call.Wrap(err, "%s", q)
		}
		for i, id := range part {
			if len(page.Comments) == q.Size {
				page.HasNext = true
				return page, nil
			}
			if c := comments[i]; c != nil && (q.Status == nil || c.Status == *q.Status) {
				page.Comments = append(page.Comments, *c)
			}
			page.End = new(id.Position())
		}
	}
	return page, nil
}

// OwnOfProducts returns the newest comment of a customer about each product, in any state. All keys
// are of one customer. It looks through the newest maxOwn comments of the customer until each
// product has one.
func (s *Store) OwnOfProducts(ctx context.Context, keys []comment.CustomerProduct) (map[comment.CustomerProduct]comment.Comment, error) {
	return s.ownOfProducts(ctx, keys, false)
}

func (s *Store) ownOfProducts(ctx context.Context, keys []comment.CustomerProduct, withoutText bool) (map[comment.CustomerProduct]comment.Comment, error) {
	customer := keys[0].Customer
	ids, _, err := s.ownIDs(ctx, customer, nil, maxOwn)
	if err != nil {
		return nil, call.Wrap(err, "comments of a customer about %s", comment.Amount(len(keys), "product"))
	}
	found := map[comment.CustomerProduct]comment.Comment{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		comments, err := s.inOrder(ctx, part, withoutText)
		if err != nil {
			return nil, call.Wrap(err, "comments of a customer about %s", comment.Amount(len(keys), "product"))
		}
		for _, c := range comments {
			if c == nil {
				continue
			}
			key := comment.CustomerProduct{Customer: customer, Product: c.ProductID}
			if _, newer := found[key]; !newer && slices.Contains(keys, key) {
				found[key] = *c
			}
		}
		if len(found) == len(keys) {
			break
		}
	}
	return found, nil
}

// CommentsBy returns how many comments a customer wrote, at most maxOwn, and the latest ones, in
// every state. It finds them by an index that follows the table within moments.
func (s *Store) CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error) {
	ids, _, err := s.ownIDs(ctx, customer, nil, maxOwn)
	if err != nil {
		return comment.CustomerComments{}, call.Wrap(err, "comments of a customer")
	}
	all := comment.CustomerComments{Total: len(ids)}
	latest, err := s.inOrder(ctx, ids[:min(comment.MaxLatest, len(ids))], false)
	if err != nil {
		return all, call.Wrap(err, "comments of a customer")
	}
	for _, c := range latest {
		if c != nil {
			all.Latest = append(all.Latest, *c)
		}
	}
	return all, nil
}

// HasApproved reports whether one of the newest idsAtOnce comments of a customer is approved. It
// finds them by an index, which follows the table within moments. It is false for an imported
// author.
func (s *Store) HasApproved(ctx context.Context, author comment.Author) (bool, error) {
	if author.Imported {
		return false, nil
	}
	ids, _, err := s.ownIDs(ctx, author.ID, nil, idsAtOnce)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	comments, err := s.inOrder(ctx, ids, true)
	return slices.ContainsFunc(comments, func(c *comment.Comment) bool { return c != nil && c.Status == comment.Approved }), err
}

// ownIDs returns the ids of the newest comments of a customer, at most most of them, and whether
// there are more. With after, it begins behind that position.
func (s *Store) ownIDs(ctx context.Context, customer string, after *comment.Position, most int) (ids []comment.ID, more bool, err error) {
	condition, values := layout.AttrWriter+" = :writer", layout.Item{":writer": layout.WriterOfComment(customer)}
	if after != nil {
		condition += " AND " + layout.AttrPK + " < :after"
		values[":after"] = layout.Text(layout.SortKeyOf(*after))
	}
	output, err := s.query(ctx, &dynamodb.QueryInput{
		IndexName:              aws.String(string(layout.ByAuthor)),
		KeyConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
		ProjectionExpression: aws.String(layout.AttrPK + "," + layout.AttrSK), ScanIndexForward: aws.Bool(false),
		Limit: aws.Int32(int32(most + 1)),
	}, "%s", layout.ByAuthor)
	if err != nil {
		return nil, false, err
	}
	for _, key := range output.Items[:min(most, len(output.Items))] {
		if id, err := layout.CommentOfKey(key); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, len(output.Items) > most, nil
}

// inOrder returns the comments with the ids, in their order. A deleted or malformed one is nil.
func (s *Store) inOrder(ctx context.Context, ids []comment.ID, withoutText bool) ([]*comment.Comment, error) {
	found, failed, err := s.CommentsByID(ctx, ids, withoutText)
	if err != nil {
		return nil, err
	}
	comments := make([]*comment.Comment, len(ids))
	for i, id := range ids {
		if err := failed[id]; err != nil && !errors.Is(err, comment.ErrImproper) {
			return nil, err
		}
		if c, ok := found[id]; ok {
			comments[i] = &c
		}
	}
	return comments, nil
}
