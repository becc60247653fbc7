package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// operations are the operations that a reader calls.
var operations = []string{"Query", "BatchGetItem", "GetItem"}

// outcome is the result of a call.
type outcome struct {
	items   []layout.Item
	failed  bool
	kind    comment.Kind
	message string
	code    string
	damaged bool // an answer arrived that could not be read

	requests int
	err      error
}

// kinds are the names of the error kinds that a read can end in.
var kinds = map[comment.Kind]string{
	comment.Internal: "Internal", comment.Throttled: "Throttled", comment.Unavailable: "Unavailable",
	comment.Timeout: "Timeout", comment.Canceled: "Canceled",
}

// String describes the outcome in a line.
func (o outcome) String() string {
	parts := []string{kinds[o.kind]}
	switch {
	case !o.failed:
		parts = []string{fmt.Sprintf("%d items", len(o.items))}
	case o.damaged:
		parts = append(parts, "damaged")
	case o.code != "":
		parts = append(parts, o.code)
	}
	return strings.Join(append(parts, fmt.Sprintf("%d requests", o.requests)), ", ")
}

const testTable = "comments.test_1"

// ask makes a call.
func ask(ctx context.Context, client *dynamodb.Client, operation string) (o outcome) {
	switch operation {
	case "Query":
		output, err := client.Query(ctx, queryOf("42"))
		if o.err = err; err == nil {
			o.items = output.Items
		}
	case "BatchGetItem":
		want := types.KeysAndAttributes{Keys: []layout.Item{{"PK": layout.Text("a")}}}
		output, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{testTable: want}})
		if o.err = err; err == nil {
			o.items = output.Responses[testTable]
		}
	default:
		output, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(testTable), Key: layout.Item{"PK": layout.Text("a")}})
		if o.err = err; err == nil && output.Item != nil {
			o.items = []layout.Item{output.Item}
		}
	}
	if o.err = Wrap(o.err, "%s", operation); o.err == nil {
		return o
	}
	o.failed, o.kind, o.message = true, comment.KindOf(o.err), comment.MessageOf(o.err)
	o.damaged = unreadable(o.err) && o.kind == comment.Unavailable
	var api smithy.APIError
	if errors.As(o.err, &api) {
		o.code = api.ErrorCode()
	}
	return o
}

func queryOf(product string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(testTable), IndexName: aws.String("ALL"), Limit: aws.Int32(20),
		KeyConditionExpression: aws.String("P = :p"), ExpressionAttributeValues: layout.Item{":p": layout.Text(product)},
	}
}

// secrets returns the secrets that the error reveals.
func (o outcome) secrets() []string {
	if o.err == nil {
		return nil
	}
	return slices.DeleteFunc([]string{"very-secret", "session+token", "Credential=", "AWS4-HMAC", written}, func(secret string) bool {
		return !strings.Contains(o.err.Error(), secret)
	})
}

// written is a customer's text in some of the answers.
const written = "what a customer wrote"
