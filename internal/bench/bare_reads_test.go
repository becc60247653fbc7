package bench

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// bareReads are the calls for each page, by its filter. The bare handler is told which: it makes
// those that the server came to by its plans.
type bareReads map[string][]dynamodb.QueryInput

// of makes the calls of a page, each of them anew, as a client has to.
func (r bareReads) of(request bareRequest) []*dynamodb.QueryInput {
	known := r[request.key()]
	out := make([]*dynamodb.QueryInput, len(known))
	for i, input := range known {
		input.ExpressionAttributeValues = maps.Clone(input.ExpressionAttributeValues)
		out[i] = &input
	}
	return out
}

// learn takes note of the calls that the server made for a page.
func (r bareReads) learn(tb testing.TB, body []byte, calls []tapedCall) {
	var request bareRequest
	if err := json.Unmarshal(body, &request); err != nil {
		tb.Fatal(err)
	}
	var inputs []dynamodb.QueryInput
	for _, c := range calls {
		inputs = append(inputs, queryOf(tb, c))
	}
	r[request.key()] = inputs
}

// key tells the pages of the cases apart.
func (r bareRequest) key() string {
	key := strings.Join(r.Variables.Filter.Languages, ",")
	for _, rating := range r.Variables.Filter.Ratings {
		key += strconv.Itoa(rating)
	}
	return key
}

// queryOf is the input of the SDK that becomes a call.
func queryOf(tb testing.TB, c tapedCall) dynamodb.QueryInput {
	var written struct {
		IndexName, KeyConditionExpression, FilterExpression, ProjectionExpression *string

		TableName                 string
		ScanIndexForward          bool
		Limit                     int32
		ExpressionAttributeValues map[string]struct{ S, N *string }
	}
	if err := json.Unmarshal([]byte(c.input), &written); err != nil {
		tb.Fatal(err)
	}
	values := map[string]types.AttributeValue{}
	for name, value := range written.ExpressionAttributeValues {
		if value.N != nil {
			values[name] = &types.AttributeValueMemberN{Value: *value.N}
			continue
		}
		values[name] = &types.AttributeValueMemberS{Value: *value.S}
	}
	return dynamodb.QueryInput{
		TableName:                 aws.String(written.TableName),
		IndexName:                 written.IndexName,
		KeyConditionExpression:    written.KeyConditionExpression,
		FilterExpression:          written.FilterExpression,
		ProjectionExpression:      written.ProjectionExpression,
		ExpressionAttributeValues: values,
		ScanIndexForward:          aws.Bool(written.ScanIndexForward),
		Limit:                     aws.Int32(written.Limit),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}
