package planbench

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
)

// client makes a table usable by a Store. Tables in memory support only reads of lists: for
// anything else, the embedded client is nil.
type client struct {
	*dynamodb.Client
	table *Table
}

// Query answers from memory.
func (c client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return c.table.Query(ctx, in)
}

// BatchGetItem answers from memory.
func (c client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return c.table.BatchGetItem(ctx, in)
}

// Store returns a Store that reads the table.
func (t *Table) Store(options dynamo.Options) *dynamo.Store {
	return dynamo.NewStore(client{table: t}, tableName, options)
}

// knowing returns the options of a Store with the given knowledge of every product.
func knowing(known planner.Knowledge) dynamo.Options {
	return dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge { return known }}
}
