package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// idsAtOnce is how many comments one call fetches. A comment can have 270 KB, and its size is known
// only after the read.
const idsAtOnce = 25

// Comment returns the comment with an ID by a consistent read. It returns a NotFound error if there
// is none, and comment.ErrImproper if its item is malformed.
func (s *Store) Comment(ctx context.Context, id comment.ID) (comment.Comment, error) {
	found, failed, err := s.CommentsByID(ctx, []comment.ID{id}, false)
	if err = errors.Join(err, failed[id]); err != nil {
		return comment.Comment{}, err
	}
	c, ok := found[id]
	if !ok {
		return c, comment.NoComment(id)
	}
	return c, nil
}

// CommentsByID fetches at most MaxKeysPerGet different comments with consistent reads, so it finds
// a comment that was just written. A comment that does not exist is in neither map. A comment has
// an error in failed if DynamoDB left it unprocessed, its item is damaged, the operation has no
// memory left for it, or the others reached the cost bound.
func (s *Store) CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	return s.commentsByID(ctx, meterOf(ids), ids, withoutText)
}

// meterOf returns the cost bound of fetching comments by their ids.
func meterOf(ids []comment.ID) *layout.Meter {
	return layout.NewMeter(float64(len(ids))*CommentUnits(), "these comments are large: ask for fewer at once")
}

// commentsByID is CommentsByID within a cost bound, which several calls may share.
func (s *Store) commentsByID(ctx context.Context, meter *layout.Meter, ids []comment.ID, withoutText bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	found, failed = make(map[comment.ID]comment.Comment, len(ids)), map[comment.ID]error{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		if err := meter.Check(); err != nil {
			for _, id := range part {
				failed[id] = err
			}
			continue
		}
		want := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String(layout.TableProjection(!withoutText) + "," + layout.AttrMark)}
		for _, id := range part {
			want.Keys = append(want.Keys, layout.CommentKey(id))
		}
		got, err := call.GetItems(ctx, s.client, s.table, want)
		meter.Add(got.Units)
		if err != nil {
			return nil, nil, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(ids), "comment"))
		}
		for _, it := range got.Items {
			if layout.NoComment(it) {
				continue
			}
			id := layout.IDOfKey(it)
			switch c, err := heldComment(ctx, it, !withoutText); {
			case err == nil:
				c.Mark = layout.NewReader(it).OptionalText(layout.AttrMark)
				found[id] = c
			case comment.KindOf(err) == comment.Internal: // not a lack of memory
				s.proper(it, err)
				failed[id] = fmt.Errorf("%w: %w", comment.ErrImproper, err)
			default:
				failed[id] = err
			}
		}
		for _, key := range got.Left {
			failed[layout.IDOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch this comment; ask again in a moment")
		}
	}
	return found, failed, nil
}

// heldComment decodes a comment, and counts it as memory held by the operation: the item before the
// text is decompressed, then the text.
func heldComment(ctx context.Context, it layout.Item, text bool) (comment.Comment, error) {
	product, err := layout.ProductOf(it)
	if err != nil {
		return comment.Comment{}, err
	}
	l, err := layout.DecodeCompressed(it, product, text)
	if err != nil {
		return comment.Comment{}, err
	}
	if err := usage.From(ctx).Hold(l.Bytes); err != nil {
		return comment.Comment{}, err
	}
	c, err := l.Decompress()
	if err != nil || l.CompressedText == nil {
		return c, err
	}
	return c, usage.From(ctx).Hold(len(c.Text))
}

// Inspection is a comment with its entries in the table and in the list indexes.
type Inspection struct {
	Comment comment.Comment
	// Entries are the item of the table, then the entries of the indexes.
	Entries []Entry
	// CompressedBytes is the size of the compressed text; 0 if the text is stored uncompressed.
	CompressedBytes int
}

// Entry is an item of the table, or its projection in an index.
type Entry struct {
	// Index is empty for the table itself.
	Index layout.Index
	// PartitionAttr and SortAttr are the names of the key's attributes, PartitionKey and SortKey
	// their values.
	PartitionAttr, PartitionKey, SortAttr, SortKey string
	// Bytes is the size of all names and values, as DynamoDB counts it for reads and writes.
	Bytes int
}

// ReadUnits returns the price of reading this entry alone, in read units. A consistent read costs
// twice as much as an eventually consistent one, and only the table allows it.
func (e Entry) ReadUnits(consistently bool) float64 {
	units := float64((e.Bytes + layout.UnitBytes - 1) / layout.UnitBytes)
	if consistently {
		return units
	}
	return units / 2
}

// Inspect fetches a comment consistently, with its keys in the table and all list indexes. The keys
// are those stored in the item, which an earlier version may have written. It returns a NotFound
// error if there is no such comment.
func (s *Store) Inspect(ctx context.Context, id comment.ID) (Inspection, error) {
	it, err := s.get(ctx, layout.CommentKey(id))
	if err != nil {
		return Inspection{}, call.Wrap(err, "GetItem %s", id)
	}
	if layout.NoComment(it) {
		return Inspection{}, comment.NoComment(id)
	}
	r := layout.NewReader(it)
	inspection := Inspection{Entries: []Entry{{
		PartitionAttr: layout.AttrPK, PartitionKey: r.Text(layout.AttrPK),
		SortAttr: layout.AttrSK, SortKey: r.Text(layout.AttrSK),
		Bytes: layout.SizeOf(it, nil),
	}}}
	for _, index := range layout.ListIndexes() {
		attr := index.PartitionAttr()
		if it[attr] == nil {
			continue
		}
		inspection.Entries = append(inspection.Entries, Entry{
			Index:         index,
			PartitionAttr: attr, PartitionKey: r.Text(attr),
			SortAttr: layout.AttrPK, SortKey: r.Text(layout.AttrPK),
			Bytes: layout.EntrySize(it, index),
		})
	}
	inspection.CompressedBytes = len(layout.BytesOf(it, layout.AttrText))
	inspection.Comment, err = layout.Decode(it)
	return inspection, call.Wrap(err, "GetItem %s", id)
}
