package planbench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
)

// tableName is the name of every table in memory.
const tableName = "comments"

// sortPrefix is the beginning of sort keys of lists.
const sortPrefix = "C#"

// sortKeyOf returns the sort key of a position, the same in all indexes that lists are read from.
func sortKeyOf(p comment.Position) string { return sortPrefix + p.String() }

// item is an item as DynamoDB stores it: values by attribute name.
type item = map[string]types.AttributeValue

// Table holds the comments of a table in memory, and its indexes. It answers Query and BatchGetItem
// with DynamoDB's items and at DynamoDB's price, and no other call. It is immutable, so it is safe
// for concurrent use.
type Table struct {
	indexes  map[string]*index
	comments map[string]entry // by partition key
}

// index is a global secondary index.
type index struct {
	partitionKey, sortKey string
	carried               []string // the attributes of its items, keys included
	partitions            map[string][]entry
}

// entry is an item of an index.
type entry struct {
	sort  string
	item  item // with the attributes of all indexes
	bytes int  // of the attributes that this index carries
}

// NewTable returns a table of comments as a Loader writes them.
func NewTable(ctx context.Context, comments []comment.Comment) (*Table, error) {
	var written collector
	if _, err := dynamo.NewLoader(&written, tableName, 1).Load(ctx, comments); err != nil {
		return nil, fmt.Errorf("comments for a table in memory: %w", err)
	}
	t := &Table{indexes: map[string]*index{}, comments: map[string]entry{}}
	for _, it := range written.items {
		t.comments[text(it["PK"])] = entry{item: it, bytes: layout.SizeOf(it, nil)}
	}
	definition := layout.Definition(tableName)
	for _, gsi := range definition.GlobalSecondaryIndexes {
		t.indexes[*gsi.IndexName] = newIndex(gsi, definition.KeySchema, written.items)
	}
	return t, nil
}

func newIndex(gsi types.GlobalSecondaryIndex, tableKey []types.KeySchemaElement, items []item) *index {
	ix := &index{
		partitionKey: *gsi.KeySchema[0].AttributeName,
		sortKey:      *gsi.KeySchema[1].AttributeName,
		carried:      slices.Clone(gsi.Projection.NonKeyAttributes),
		partitions:   map[string][]entry{},
	}
	for _, key := range append(gsi.KeySchema[:2:2], tableKey...) {
		if name := *key.AttributeName; !slices.Contains(ix.carried, name) { // an index may use a key of the table as its sort key
			ix.carried = append(ix.carried, name)
		}
	}
	for _, it := range items {
		if it[ix.partitionKey] == nil || it[ix.sortKey] == nil {
			continue // the item is not in this index
		}
		key := text(it[ix.partitionKey])
		ix.partitions[key] = append(ix.partitions[key], entry{text(it[ix.sortKey]), it, layout.SizeOf(it, ix.carried)})
	}
	for _, entries := range ix.partitions {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sort, b.sort) })
	}
	return ix
}

// partition returns the entries of a product's partition, ascending.
func (t *Table) partition(p layout.Partition, product string) []entry {
	return t.indexes[string(p.Index)].partitions[p.Key(product)]
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

// collector receives the writes of a Loader in place of a table.
type collector struct {
	*dynamodb.Client // nil: a load without updates makes no other calls

	mu    sync.Mutex
	items []item
}

// BatchGetItem finds nothing, so the Loader writes every comment.
func (c *collector) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{}, nil
}

// PutItem keeps the item.
func (c *collector) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = append(c.items, in.Item)
	return &dynamodb.PutItemOutput{}, nil
}

// consumed returns the consumed capacity in an answer.
func consumed(units float64) *types.ConsumedCapacity {
	return &types.ConsumedCapacity{TableName: aws.String(tableName), CapacityUnits: aws.Float64(units)}
}
