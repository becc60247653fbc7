package dynamotest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableWithin is the time that an engine has to make a new table active.
const tableWithin = time.Minute

// TableMaker is the part of the SDK's client that makes tables.
type TableMaker interface {
	dynamodb.DescribeTableAPIClient
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
}

// CreateTable creates a table, named by TableName, and waits until it is active. On a busy machine,
// Java may take longer for its first table than the client waits. The SDK then repeats the call,
// which finds that the table exists.
func CreateTable(tb testing.TB, client TableMaker, input *dynamodb.CreateTableInput) {
	tb.Helper()
	_, err := client.CreateTable(tb.Context(), input)
	var there *types.ResourceInUseException
	if err != nil && !errors.As(err, &there) {
		tb.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, time.Second
	})
	if err := waiter.Wait(tb.Context(), &dynamodb.DescribeTableInput{TableName: input.TableName}, tableWithin); err != nil {
		tb.Fatal(err)
	}
}
