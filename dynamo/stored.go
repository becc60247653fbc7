package dynamo

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
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
	Index Index
	// PartitionAttr and SortAttr are the names of the key's attributes, PartitionKey and SortKey their values.
	PartitionAttr, PartitionKey, SortAttr, SortKey string
	// Bytes is the size of all names and values, as DynamoDB counts it for reads and writes.
	Bytes int
}

// ReadUnits is what reading this entry alone costs, in read units: eventually consistently, the one way for an index, or
// consistently, which is twice that.
func (e Entry) ReadUnits(consistently bool) float64 {
	units := float64((e.Bytes + unitBytes - 1) / unitBytes)
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
		Key:            commentKey(id),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Stored{}, wrap(err, "GetItem %s", id)
	}
	if noComment(output.Item) {
		return Stored{}, notFound(id)
	}
	c, err := decodeWhole(output.Item)
	stored := Stored{Comment: c, Entries: entriesOf(output.Item)}
	if short, compressed := output.Item[attrText].(*types.AttributeValueMemberB); compressed {
		stored.CompressedText = len(short.Value)
	}
	return stored, wrap(err, "GetItem %s", id)
}

// entriesOf are the entries of an item. An index that it has no key of has no entry.
func entriesOf(it item) []Entry {
	r := itemReader{item: it}
	entries := []Entry{{
		PartitionAttr: attrPK, PartitionKey: r.text(attrPK),
		SortAttr: attrSK, SortKey: r.text(attrSK),
		Bytes: sizeOf(it, slices.Collect(maps.Keys(it))),
	}}
	for _, index := range indexes {
		if it[index.partitionKey] == nil {
			continue
		}
		entries = append(entries, Entry{
			Index:         index.name,
			PartitionAttr: index.partitionKey, PartitionKey: r.text(index.partitionKey),
			SortAttr: attrPK, SortKey: r.text(attrPK),
			Bytes: listedBytes(it, index.name),
		})
	}
	return entries
}

// listedBytes is the size of what a list index keeps of an item.
func listedBytes(it item, index Index) int {
	return sizeOf(it, slices.Concat([]string{attrPK, attrSK, index.partitionAttr(), attrSpare}, listAttrs))
}

// sizeOf is the size of the named attributes of an item in bytes, names included.
func sizeOf(it item, names []string) int {
	size := 0
	for _, name := range names {
		switch value := it[name].(type) {
		case *types.AttributeValueMemberS:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberB:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberN:
			size += len(name) + sizeOfNumber(value.Value)
		}
	}
	return size
}

// sizeOfNumber is the size of a whole number: a byte for every two digits, counted in pairs from the decimal point and
// without the zero pairs at the end, and one more; a minus sign takes one, too. DynamoDB's documentation says so in fewer
// words, and DynamoDB Local does so.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func sizeOfNumber(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	for strings.HasSuffix(digits, "00") {
		digits = strings.TrimSuffix(digits, "00")
	}
	size := len(digits)/2 + 1
	if negative {
		size++
	}
	return size
}
