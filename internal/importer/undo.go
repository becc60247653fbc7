package importer

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// Undone says what happened to the comments that an import added.
type Undone struct {
	// Removed is how many are gone, including those that an earlier Undo removed.
	Removed int
	// Changed is how many stay because they were edited, decided about or replied to since.
	Changed int
}

// Undo removes the comments that an import added, except those that were changed since. It reads
// the whole table. After an error, another Undo continues, and counts the comments removed before.
// An import may add the same comments again. A comment that is written while Undo runs may stay.
//
// Each becomes a tombstone, as deleted comments do: a late put of the import must not restore it.
func (r *Registry) Undo(ctx context.Context, name string, show func(Undone)) (done Undone, err error) {
	m, err := r.Find(ctx, name)
	if err != nil {
		return done, err
	}
	input := &dynamodb.ScanInput{
		TableName: aws.String(r.table), ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String(layout.AttrSK + " = :sort AND begins_with(" + layout.AttrImport + ", :mark)"),
		ExpressionAttributeValues: layout.Item{":sort": layout.Text(layout.CommentSK), ":mark": layout.Text(layout.MarkPrefix(m.Number))},
		ProjectionExpression:      aws.String(layout.TableProjection(false) + "," + layout.AttrImport + "," + layout.AttrMark),
	}
	for output, err := range call.ScanAnswers(ctx, r.client, input, "Scan for import %q", name) {
		if err != nil {
			return done, err
		}
		removed := make([]bool, len(output.Items))
		err = call.Parallel(ctx, len(output.Items), func(ctx context.Context, i int) (err error) {
			removed[i], err = r.remove(ctx, output.Items[i])
			return err
		})
		for _, gone := range removed {
			if gone {
				done.Removed++
			} else if err == nil {
				done.Changed++
			}
		}
		if err != nil {
			return done, err
		}
		show(done)
	}
	_, err = r.updateIf(ctx, namePrefix+name, "SET "+attrUndone+" = :now", sameRun,
		layout.Item{":now": layout.Time(time.Now()), ":begun": layout.Time(m.Begun)})
	if call.Refused(err) {
		err = nil // it runs again
	}
	return done, err
}

// Find returns an import by its name.
func (r *Registry) Find(ctx context.Context, name string) (Listed, error) {
	m, err := r.get(ctx, name)
	if err == nil && m.Number == 0 {
		err = comment.Errorf(comment.NotFound, "there is no import %q: talkback import --list prints all", name)
	}
	return m, err
}

// remove replaces a comment of an import with a tombstone, and reports whether it is gone. A
// comment that was changed since the import stays, even if the change comes only now.
func (r *Registry) remove(ctx context.Context, it layout.Item) (gone bool, err error) {
	if layout.NoComment(it) {
		return true, nil
	}
	id, err := layout.CommentOfKey(it)
	if err != nil {
		return false, err
	}
	product, err := layout.ProductOf(it)
	if err != nil {
		return false, nil // damaged counts as changed
	}
	c, err := layout.DecodeCompressed(it, product, false)
	mark, ok := layout.ImportMarkOf(it)
	if err != nil || !ok || !mark.Unchanged(c.Comment) {
		return false, nil
	}
	tombstone := layout.Tombstone(id, rand.Text(), time.Now())
	tombstone[layout.AttrImport] = it[layout.AttrImport]
	values := layout.Item{":mark": it[layout.AttrImport]}
	condition := layout.AttrImport + " = :mark AND attribute_not_exists(" + layout.AttrDeleted + ") AND " +
		layout.SameVersion(c.Version, values) + " AND " + layout.SameState(c.Comment, values) + " AND " + layout.SameReply(c.Comment, values) + " AND " + layout.SameAttrs(it, values, layout.AttrMark)
	err = call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		err := call.Put(ctx, r.client, call.PutIf(r.table, tombstone, condition, values))
		if there, refused := call.FoundInstead(err); refused {
			gone = layout.NoComment(there) // by an earlier try, or another caller
			return nil
		}
		gone = err == nil
		return err
	})
	return gone, call.Wrap(err, "PutItem of the tombstone of %s", id)
}
