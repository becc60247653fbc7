package planbench

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
)

// client is a table as the Store wants it. What a Store does beside reading lists is not for tables
// in memory: the client of the SDK behind it is nil.
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

// Store is a Store that reads the table.
func (t *Table) Store(options dynamo.Options) *dynamo.Store {
	return dynamo.NewStore(client{table: t}, tableName, options)
}

// knowing returns the options of a Store with the given knowledge of every product.
func knowing(known planner.Knowledge) dynamo.Options {
	return dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge { return known }}
}
