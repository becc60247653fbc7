package planbench

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo"
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

// Store is a Store that reads the table.
func (t *Table) Store() *dynamo.Store { return dynamo.NewStore(client{table: t}, tableName) }
