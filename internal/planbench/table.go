package planbench

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// tableName is the name of every table in memory.
const tableName = "comments"

// Table holds the comments of a table in memory, and the indexes that lists are read from. It
// answers Query and BatchGetItem with DynamoDB's items and at DynamoDB's price, and no other call.
// It is immutable, so it is safe for concurrent use.
type Table struct {
	*dynamodb.Client // nil: a Store makes no other calls to read lists

	indexes  map[layout.Index]map[string][]entry // by partition key
	comments map[string]entry                    // by partition key
}

// entry is an item of an index.
// Entries of a partition are in ascending order.
type entry struct {
	sort  string
	item  layout.Item // with the attributes of all indexes
	bytes int         // of the attributes that this index carries
}

// NewTable returns a table of comments at different positions.
func NewTable(comments []comment.Comment) *Table {
	t := &Table{indexes: map[layout.Index]map[string][]entry{}, comments: map[string]entry{}}
	items := make([]layout.Item, len(comments))
	for i, c := range comments {
		items[i] = layout.Encode(c)
		t.comments[text(items[i][layout.AttrPK])] = entry{item: items[i], bytes: layout.SizeOf(items[i], nil)}
	}
	for _, index := range append(layout.ListIndexes(), layout.ByMedia, layout.ByHelpful) {
		partitions := map[string][]entry{}
		for _, it := range items {
			key, sort := it[index.PartitionAttr()], it[index.SortAttr()]
			if key == nil || sort == nil {
				continue // the item is not in this index
			}
			partitions[text(key)] = append(partitions[text(key)], entry{text(sort), it, layout.EntrySize(it, index)})
		}
		for _, entries := range partitions {
			slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sort, b.sort) })
		}
		t.indexes[index] = partitions
	}
	return t
}

// partition returns the entries of a product's partition, ascending.
func (t *Table) partition(p layout.Partition, product string) []entry {
	return t.indexes[p.Index][p.Key(product)]
}

// Store returns a Store that reads the table.
func (t *Table) Store(options dynamo.Options) *dynamo.Store {
	return dynamo.NewStore(t, tableName, options)
}

// knowing returns the options of a Store with the given knowledge of every product.
func knowing(known planner.Knowledge) dynamo.Options {
	return dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge { return known }}
}

// text returns the value of a string or a number, or bytes unchanged.
func text(value types.AttributeValue) string {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}

// consumed returns the consumed capacity in an answer.
func consumed(units float64) *types.ConsumedCapacity {
	return &types.ConsumedCapacity{TableName: aws.String(tableName), CapacityUnits: aws.Float64(units)}
}
