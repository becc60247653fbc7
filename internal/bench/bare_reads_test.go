package bench

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// bareReads are the calls for each page, by its filter. The bare handler gets them from the server,
// whose plans led to them.
type bareReads map[string][]dynamodb.QueryInput

// of returns the calls of a page, each of them anew, as a client must.
func (r bareReads) of(request bareRequest) []*dynamodb.QueryInput {
	known := r[request.key()]
	out := make([]*dynamodb.QueryInput, len(known))
	for i, input := range known {
		input.ExpressionAttributeValues = maps.Clone(input.ExpressionAttributeValues)
		out[i] = &input
	}
	return out
}

// learnedPage is a request for a page, and the inputs of the calls that the server made for it.
type learnedPage struct {
	Request json.RawMessage
	Calls   []json.RawMessage
}

func learned(body []byte, calls []tapedCall) learnedPage {
	page := learnedPage{Request: body}
	for _, c := range calls {
		page.Calls = append(page.Calls, json.RawMessage(c.input))
	}
	return page
}

func (r bareReads) learn(page learnedPage) error {
	var request bareRequest
	if err := json.Unmarshal(page.Request, &request); err != nil {
		return err
	}
	var inputs []dynamodb.QueryInput
	for _, call := range page.Calls {
		input, err := queryOf(call)
		if err != nil {
			return err
		}
		inputs = append(inputs, input)
	}
	r[request.key()] = inputs
	return nil
}

func (r bareRequest) key() string {
	key := r.Variables.Product + " " + strconv.Itoa(r.Variables.First) + " " + strings.Join(r.Variables.Filter.Languages, ",")
	for _, rating := range r.Variables.Filter.Ratings {
		key += strconv.Itoa(rating)
	}
	return key
}

// queryOf parses the JSON of a call into the SDK's input.
func queryOf(call json.RawMessage) (dynamodb.QueryInput, error) {
	var written struct {
		dynamodb.QueryInput

		ExpressionAttributeValues map[string]struct{ S, N *string }
	}
	if err := json.Unmarshal(call, &written); err != nil {
		return dynamodb.QueryInput{}, err
	}
	input := written.QueryInput
	input.ExpressionAttributeValues = map[string]types.AttributeValue{}
	for name, value := range written.ExpressionAttributeValues {
		if value.N != nil {
			input.ExpressionAttributeValues[name] = &types.AttributeValueMemberN{Value: *value.N}
		} else {
			input.ExpressionAttributeValues[name] = &types.AttributeValueMemberS{Value: *value.S}
		}
	}
	return input, nil
}
