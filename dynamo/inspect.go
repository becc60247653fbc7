package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

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

// ReadUnits is the price of reading this entry alone, in read units. A consistent read costs twice
// as much as an eventually consistent one, and only the table allows it.
func (e Entry) ReadUnits(consistently bool) float64 {
	units := float64((e.Bytes + layout.UnitBytes - 1) / layout.UnitBytes)
	if consistently {
		return units
	}
	return units / 2
}

// Inspect fetches a comment, consistently, with all keys that it is found by. The keys are those
// that its item has, which may have been written by an earlier version. It returns a NotFound error
// if there is no such comment.
func (s *Store) Inspect(ctx context.Context, id comment.ID) (Inspection, error) {
	output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            layout.CommentKey(id),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Inspection{}, call.Wrap(err, "GetItem %s", id)
	}
	if layout.NoComment(output.Item) {
		return Inspection{}, comment.NoComment(id)
	}
	c, err := layout.Decode(output.Item)
	inspection := Inspection{Comment: c, Entries: entriesOf(output.Item)}
	if short, compressed := output.Item[layout.AttrText].(*types.AttributeValueMemberB); compressed {
		inspection.CompressedBytes = len(short.Value)
	}
	return inspection, call.Wrap(err, "GetItem %s", id)
}

// entriesOf returns the entries of an item: that of the table, and those of the indexes whose keys
// it has.
func entriesOf(it layout.Item) []Entry {
	r := layout.NewReader(it)
	entries := []Entry{{
		PartitionAttr: layout.AttrPK, PartitionKey: r.Text(layout.AttrPK),
		SortAttr: layout.AttrSK, SortKey: r.Text(layout.AttrSK),
		Bytes: layout.SizeOf(it, slices.Collect(maps.Keys(it))),
	}}
	for _, index := range layout.ListIndexes() {
		attr := index.PartitionAttr()
		if it[attr] == nil {
			continue
		}
		entries = append(entries, Entry{
			Index:         index,
			PartitionAttr: attr, PartitionKey: r.Text(attr),
			SortAttr: layout.AttrPK, SortKey: r.Text(layout.AttrPK),
			Bytes: layout.EntrySize(it, index),
		})
	}
	return entries
}
