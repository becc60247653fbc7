package erasure

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// found is a comment of the author that has to be erased.
type found struct {
	id comment.ID
	// keys has the keys of items elsewhere that name the comment, such as that of its idempotency
	// key.
	keys []layout.Item
	// report has the counts of this comment alone.
	report comment.Erasure
}

// eraseAll erases those of the comments that are the author's. Before the first it saves their ids,
// and counts them. It does not count saved ones again.
func (r *erasing) eraseAll(ctx context.Context, ids []comment.ID) error {
	all := make([]*found, len(ids))
	err := call.Parallel(ctx, len(ids), func(ctx context.Context, i int) (err error) {
		all[i], err = r.look(ctx, ids[i])
		return err
	})
	if err != nil {
		return err
	}
	again := len(r.snapshot().underWay) > 0 // also those that are tombstones: items may be left beside them
	r.update(func(p *progress) {
		for _, f := range all {
			if f == nil || again {
				continue
			}
			p.underWay = append(p.underWay, f.id)
			counts := counters(&f.report)
			for attr, sum := range counters(&p.report) {
				*sum += *counts[attr]
			}
		}
	})
	if len(r.snapshot().underWay) == 0 {
		return nil
	}
	if err := r.work.Save(ctx); err != nil {
		return err
	}
	if err := call.Parallel(ctx, len(ids), func(ctx context.Context, i int) error {
		if all[i] == nil && !again {
			return nil // not the author's
		}
		return r.erase(ctx, ids[i], all[i])
	}); err != nil {
		return err
	}
	r.update(func(p *progress) { p.underWay = nil })
	r.show(r.snapshot().report)
	return nil
}

// look reads a comment and the items beside it. It returns nil if the comment is not, or no longer,
// the author's.
func (r *erasing) look(ctx context.Context, id comment.ID) (*found, error) {
	items, err := r.partition(ctx, id)
	if err != nil {
		return nil, err
	}
	f := &found{id: id}
	for _, it := range items {
		switch sortKey := layout.NewReader(it).Text(layout.AttrSK); {
		case sortKey == layout.CommentSK && !layout.NoComment(it) && r.isAuthors(it):
			f.report.Comments = 1
			f.report.HeldEdits, f.report.Replies = layout.Extras(it)
			if hash := layout.BytesOf(it, layout.AttrKeyHash); hash != nil {
				f.keys = append(f.keys, layout.KeyOfHash(hash))
			}
			if product, err := layout.ProductOf(it); err == nil && !r.author.Imported {
				f.keys = append(f.keys, layout.OneKey(comment.CustomerProduct{Customer: r.author.ID, Product: product}))
			}
		case strings.HasPrefix(sortKey, layout.DecisionSKPrefix):
			f.report.Decisions++
		case strings.HasPrefix(sortKey, layout.ReportSKPrefix):
			f.report.ReportsAbout++
		}
	}
	if f.report.Comments == 0 {
		return nil, nil
	}
	return f, nil
}

func (r *erasing) isAuthors(it layout.Item) bool {
	reader := layout.NewReader(it)
	if !r.author.Imported {
		return reader.Text(layout.AttrWriter) == layout.WriterOfComment(r.author.ID).Value
	}
	_, id := reader.TextOrBinary(layout.AttrAuthorID)
	return id != nil && string(id) == r.author.ID
}

// erase replaces a comment with a tombstone, and deletes the items that name it or are beside it. f
// is nil if the comment is a tombstone already.
func (r *erasing) erase(ctx context.Context, id comment.ID, f *found) error {
	if f != nil {
		if err := r.bury(ctx, f); err != nil {
			return err
		}
	}
	items, err := r.partition(ctx, id)
	if err != nil {
		return err
	}
	var beside []layout.Item
	for _, it := range items {
		switch {
		case layout.NewReader(it).Text(layout.AttrSK) != layout.CommentSK:
			beside = append(beside, layout.KeyOf(it))
		case !layout.NoComment(it):
			return nil // it is another author's now
		}
	}
	return call.Parallel(ctx, len(beside), func(ctx context.Context, i int) error {
		_, err := r.delete(ctx, beside[i], "attribute_exists("+layout.AttrPK+")", nil)
		return err
	})
}

// bury deletes the items elsewhere that name a comment of the author, and replaces the comment with a tombstone,
// regardless of edits since.
func (r *erasing) bury(ctx context.Context, f *found) error {
	for _, key := range f.keys { // few of the items exist, and a read is cheaper than a write
		it, err := r.item(ctx, key)
		r.read(1)
		if err != nil {
			return err
		}
		if layout.NewReader(it).OptionalText(layout.AttrFirst) != string(f.id) {
			continue
		}
		gone, err := r.delete(ctx, key, layout.AttrFirst+" = :comment", layout.Item{":comment": layout.Text(string(f.id))})
		if gone {
			r.update(func(p *progress) { p.report.Keys++ })
		}
		if err != nil {
			return err
		}
	}
	condition, author := ofAuthor(r.author)
	_, err := r.write(ctx, func() (*types.ConsumedCapacity, error) {
		output, err := r.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(r.table), Item: layout.Tombstone(f.id, rand.Text(), time.Now()),
			ConditionExpression: aws.String(condition), ExpressionAttributeValues: author,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, call.NoRetries)
		if err != nil {
			return nil, err
		}
		return output.ConsumedCapacity, nil
	})
	return call.Wrap(err, "PutItem of the tombstone of %s", f.id)
}
