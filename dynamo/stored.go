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
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/dynamo/layout"
)

// Stored is a comment and the entries that the table and its indexes keep of it.
type Stored struct {
	// Comment is what they hold.
	Comment comment.Comment
	// Entries are that of the table, then those of the indexes.
	Entries []Entry
	// CompressedText is how many bytes the text takes as it is stored, compressed; 0 when it is stored as it is.
	CompressedText int
}

// Entry is an item of the table, or what an index keeps of it.
type Entry struct {
	// Index is empty for the table itself.
	Index layout.Index
	// PartitionAttr and SortAttr are the names of the key's attributes, PartitionKey and SortKey their values.
	PartitionAttr, PartitionKey, SortAttr, SortKey string
	// Bytes is the size of all names and values, as DynamoDB counts it for reads and writes.
	Bytes int
}

// ReadUnits is what reading this entry alone costs, in read units: eventually consistently, the one way for an index, or
// consistently, which is twice that.
func (e Entry) ReadUnits(consistently bool) float64 {
	units := float64((e.Bytes + capacity.UnitBytes - 1) / capacity.UnitBytes)
	if consistently {
		return units
	}
	return units / 2
}

// Stored fetches a comment, consistently, with every key under which it can be found. The keys are those in the table,
// not those that it would be given today. It returns a NotFound error when there is none.
func (s *Store) Stored(ctx context.Context, id comment.ID) (Stored, error) {
	output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            layout.CommentKey(id),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Stored{}, call.Wrap(err, "GetItem %s", id)
	}
	if layout.NoComment(output.Item) {
		return Stored{}, notFound(id)
	}
	c, err := layout.DecodeWhole(output.Item)
	stored := Stored{Comment: c, Entries: entriesOf(output.Item)}
	if short, compressed := output.Item[layout.AttrText].(*types.AttributeValueMemberB); compressed {
		stored.CompressedText = len(short.Value)
	}
	return stored, call.Wrap(err, "GetItem %s", id)
}

// entriesOf are the entries of an item. An index that it has no key of has no entry.
func entriesOf(it layout.Item) []Entry {
	r := layout.NewReader(it)
	entries := []Entry{{
		PartitionAttr: layout.AttrPK, PartitionKey: r.Text(layout.AttrPK),
		SortAttr: layout.AttrSK, SortKey: r.Text(layout.AttrSK),
		Bytes: layout.SizeOf(it, slices.Collect(maps.Keys(it))),
	}}
	for _, index := range layout.Indexes {
		if it[index.PartitionKey] == nil {
			continue
		}
		entries = append(entries, Entry{
			Index:         index.Name,
			PartitionAttr: index.PartitionKey, PartitionKey: r.Text(index.PartitionKey),
			SortAttr: layout.AttrPK, SortKey: r.Text(layout.AttrPK),
			Bytes: listedBytes(it, index.Name),
		})
	}
	return entries
}

// listedBytes is the size of what a list index keeps of an item.
func listedBytes(it layout.Item, index layout.Index) int {
	return layout.SizeOf(it, slices.Concat([]string{layout.AttrPK, layout.AttrSK, index.PartitionAttr(), layout.AttrSpare}, layout.ListAttrs))
}
