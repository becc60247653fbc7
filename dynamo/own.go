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
// index that follows the table within moments, and reads each by its ID as it is now. A page of
// large comments ends early, at the cost bound.
func (s *Store) OwnComments(ctx context.Context, q comment.OwnQuery) (comment.OwnPage, error) {
	wanted := maxOwn
	if q.Status == nil {
		wanted = q.Size
	}
	ids, more, err := s.ownIDs(ctx, q.Customer, q.After, wanted)
	if err != nil {
		return comment.OwnPage{}, call.Wrap(err, "%s", q)
	}
	page, meter := comment.OwnPage{HasNext: more}, meterOf(ids)
	for part := range slices.Chunk(ids, idsAtOnce) {
		if meter.Check() != nil {
			page.HasNext = true
			return page, nil
		}
		found, err := s.current(ctx, meter, part, q.WithoutText)
		if err != nil {
			return comment.OwnPage{}, call.Wrap(err, "%s", q)
		}
		for _, id := range part {
			if len(page.Comments) == q.Size {
				page.HasNext = true
				return page, nil
			}
			if c, there := found[id]; there && (q.Status == nil || c.Status == *q.Status) {
				page.Comments = append(page.Comments, c)
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
	newest := map[comment.CustomerProduct]comment.Comment{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		// All calls together have no bound: an author whose comment is not found could write another.
		found, err := s.current(ctx, meterOf(part), part, withoutText)
		if err != nil {
			return nil, call.Wrap(err, "comments of a customer about %s", comment.Amount(len(keys), "product"))
		}
		for _, id := range part {
			c, there := found[id]
			key := comment.CustomerProduct{Customer: customer, Product: c.ProductID}
			if _, newer := newest[key]; there && !newer && slices.Contains(keys, key) {
				newest[key] = c
			}
		}
		if len(newest) == len(keys) {
			break
		}
	}
	return newest, nil
}

// CommentsBy returns how many comments a customer wrote, at most maxOwn, and the latest ones, in
// every state. It finds them by an index that follows the table within moments.
func (s *Store) CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error) {
	ids, _, err := s.ownIDs(ctx, customer, nil, maxOwn)
	if err != nil {
		return comment.CustomerComments{}, call.Wrap(err, "comments of a customer")
	}
	all := comment.CustomerComments{Total: len(ids)}
	ids = ids[:min(comment.MaxLatest, len(ids))]
	found, err := s.current(ctx, meterOf(ids), ids, false)
	for _, id := range ids {
		if c, there := found[id]; there {
			all.Latest = append(all.Latest, c)
		}
	}
	return all, call.Wrap(err, "comments of a customer")
}

// HasApproved reports whether one of the newest idsAtOnce comments of a customer is approved. It
// finds them by an index, which follows the table within moments. It is false for an imported
// author.
func (s *Store) HasApproved(ctx context.Context, author comment.Author) (bool, error) {
	if author.Imported {
		return false, nil
	}
	ids, _, err := s.ownIDs(ctx, author.ID, nil, idsAtOnce)
	if err != nil {
		return false, err
	}
	found, err := s.current(ctx, meterOf(ids), ids, true)
	for _, c := range found {
		if c.Status == comment.Approved {
			return true, err
		}
	}
	return false, err
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

// current returns the comments with the ids, without those that are deleted or malformed.
func (s *Store) current(ctx context.Context, meter *layout.Meter, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, error) {
	found, failed, err := s.commentsByID(ctx, meter, ids, withoutText)
	for _, one := range failed {
		if !errors.Is(one, comment.ErrImproper) {
			return nil, one
		}
	}
	return found, err
}
