package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// reads are the calls that can be made in several ways.
type reads interface {
	Querier
	BatchGetter
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// way is a way of making reads. The tests of this package hold each way to the first, the SDK's
// client as it is.
type way struct {
	name string
	open func(dynamodb.Options) reads
}

var ways = []way{
	{"SDK", func(o dynamodb.Options) reads {
		o.DisableValidateResponseChecksum = false // as it is by default
		return dynamodb.New(o)
	}},
	{"protocol", func(o dynamodb.Options) reads { return dynamodb.New(o, checked) }},
	{"lean", func(o dynamodb.Options) reads {
		lean, ok := Lean(dynamodb.New(o, checked), testTable)
		if !ok {
			panic("these options cannot be lean")
		}
		return lean
	}},
}

// operations are the calls of reads.
var operations = []string{"Query", "BatchGetItem", "GetItem"}

// outcome is what a call returned, as far as this program depends on it.
type outcome struct {
	Items          []layout.Item
	Last           layout.Item // LastEvaluatedKey
	Left           []layout.Item
	Count, Scanned int32
	Units          float64

	Failed    bool
	Kind      comment.Kind
	Message   string
	Code      string
	Fault     smithy.ErrorFault
	Status    int
	Transient bool
	Damaged   bool // an answer came and could not be read
	Panicked  bool

	Requests int
	err      error
}

// kinds are the names of the kinds of errors that a read can end in.
var kinds = map[comment.Kind]string{
	comment.Internal: "Internal", comment.Throttled: "Throttled", comment.Unavailable: "Unavailable",
	comment.Timeout: "Timeout", comment.Canceled: "Canceled",
}

// String says in a line what happened.
func (o outcome) String() string {
	var parts []string
	switch {
	case o.Panicked:
		parts = append(parts, "panic")
	case !o.Failed:
		parts = append(parts, fmt.Sprintf("%d items", len(o.Items)))
	case o.Damaged:
		parts = append(parts, kinds[o.Kind], "damaged")
	default:
		parts = append(parts, kinds[o.Kind])
		if o.Code != "" {
			parts = append(parts, o.Code)
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d requests", o.Requests)), ", ")
}

// ask makes a call. Its keys and names have characters that JSON or a signature may get wrong.
func ask(ctx context.Context, client reads, operation string) (o outcome) {
	defer o.noteOfPanic()
	var err error
	switch operation {
	case "Query":
		err = o.query(client.Query(ctx, queryOf("42")))
	case "BatchGetItem":
		err = o.batch(client.BatchGetItem(ctx, batchOf("a", odd)))
	default:
		err = o.item(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(testTable), Key: keyOf(odd), ConsistentRead: aws.Bool(true)}))
	}
	o.note(Wrap(err, "%s", operation))
	return o
}

const (
	testTable = "comments.test_1"
	// odd has what JSON escapes in one encoder and not in another.
	odd = "p\"\\/\b\f\n\r\t\u0001\u007f <>&' é 漢字 😀 \u2028\u2029 %2F+=~"
)

func keyOf(key string) layout.Item { return layout.Item{"PK": layout.Text(key)} }

func queryOf(product string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(testTable), IndexName: aws.String("ALL"), Limit: aws.Int32(20), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: aws.String("P = :p AND PK <= :high"), FilterExpression: aws.String("R IN (:r) AND #l = :l"), ProjectionExpression: aws.String("PK,R,#l"),
		ExpressionAttributeNames:  map[string]string{"#l": "L"},
		ExpressionAttributeValues: layout.Item{":p": layout.Text(product), ":high": layout.Text(odd), ":r": layout.Number(5), ":l": layout.Text("en")},
		ExclusiveStartKey:         layout.Item{"PK": layout.Text(odd), "P": &types.AttributeValueMemberB{Value: []byte{0, 255}}},
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}

func batchOf(ids ...string) *dynamodb.BatchGetItemInput {
	want := types.KeysAndAttributes{ProjectionExpression: aws.String("PK,R"), ConsistentRead: aws.Bool(true)}
	for _, id := range ids {
		want.Keys = append(want.Keys, keyOf(id))
	}
	return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{testTable: want}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
}

func (o *outcome) query(output *dynamodb.QueryOutput, err error) error {
	if err == nil {
		o.Items, o.Last, o.Count, o.Scanned = output.Items, output.LastEvaluatedKey, output.Count, output.ScannedCount
		o.Units = UnitsOf(output.ConsumedCapacity)
	}
	return err
}

func (o *outcome) batch(output *dynamodb.BatchGetItemOutput, err error) error {
	if err == nil {
		o.Items, o.Left = output.Responses[testTable], output.UnprocessedKeys[testTable].Keys
		for i := range output.ConsumedCapacity {
			o.Units += UnitsOf(&output.ConsumedCapacity[i])
		}
	}
	return err
}

func (o *outcome) item(output *dynamodb.GetItemOutput, err error) error {
	if err == nil && output.Item != nil {
		o.Items, o.Units = []layout.Item{output.Item}, UnitsOf(output.ConsumedCapacity)
	}
	return err
}

// note describes an error.
func (o *outcome) note(err error) {
	if err == nil {
		return
	}
	o.Failed, o.Kind, o.Message = true, comment.KindOf(err), comment.MessageOf(err)
	o.Transient, o.Damaged, o.err = Transient(err), unreadable(err) && o.Kind == comment.Unavailable, err
	var api smithy.APIError
	if errors.As(err, &api) {
		o.Code, o.Fault = api.ErrorCode(), api.ErrorFault()
	}
	var answered *smithyhttp.ResponseError
	if errors.As(err, &answered) && answered.Response != nil {
		o.Status = answered.HTTPStatusCode()
	}
}

// noteOfPanic notes that a call has panicked. It is deferred.
func (o *outcome) noteOfPanic() {
	if value := recover(); value != nil {
		*o = outcome{Failed: true, Panicked: true, err: fmt.Errorf("panic: %v", value)}
	}
}

// secrets returns what an error must not tell and does.
func (o outcome) secrets() []string {
	if o.err == nil {
		return nil
	}
	return slices.DeleteFunc([]string{"very-secret", "session+token", "Credential=", "AWS4-HMAC", written}, func(secret string) bool {
		return !strings.Contains(o.err.Error(), secret)
	})
}

// written is what a customer wrote, in some of the answers.
const written = "what a customer wrote"
