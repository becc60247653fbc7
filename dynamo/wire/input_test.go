package wire

import (
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// theirs is an input as the SDK encodes it.
func theirs(tb testing.TB, schema *smithy.Schema, in smithy.Serializable) []byte {
	tb.Helper()
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	operation := smithy.NewOperationSchema(schema, schema, schema)
	if err := dynamodb.New(dynamodb.Options{}).Options().Protocol.SerializeRequest(tb.Context(), operation, in, request); err != nil {
		tb.Fatal(err)
	}
	body, err := io.ReadAll(request.GetStream())
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// sameInput reports whether inputs are the same bytes, but for the order of members: that of maps is
// random.
func sameInput(a, b []byte) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil || !cmp.Equal(one, other) {
		return false
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// Whatever input is usual, it has the bytes that the SDK makes of it.
func TestInputsAreTheSDKs(t *testing.T) {
	usual := 0
	rapid.Check(t, func(rt *rapid.T) {
		schema, in := drawInput(rt)
		ours, ok := Input(in)
		if ok {
			usual++
		}
		if theirs := theirs(t, schema, in); ok && !sameInput(ours, theirs) {
			rt.Errorf("ours:  %s\nthe SDK's: %s", ours, theirs)
		}
	})
	if usual < 10 {
		t.Errorf("%d inputs were usual", usual)
	}
}

// drawInput returns the input of one of the reads, and its schema.
func drawInput(t *rapid.T) (*smithy.Schema, smithy.Serializable) {
	switch rapid.IntRange(0, 2).Draw(t, "operation") {
	case 0:
		return schemas.QueryInput, &dynamodb.QueryInput{
			TableName: drawText(t), IndexName: drawText(t), KeyConditionExpression: drawText(t), FilterExpression: drawText(t),
			ExpressionAttributeValues: drawItem(t, 1), ExclusiveStartKey: drawItem(t, 1),
			ScanIndexForward: rapid.Ptr(rapid.Bool(), true).Draw(t, "forward"), Limit: rapid.Ptr(rapid.Int32(), true).Draw(t, "limit"),
			Select: types.Select(aws.ToString(drawText(t))), AttributesToGet: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "attributes"),
		}
	case 1:
		return schemas.GetItemInput, &dynamodb.GetItemInput{TableName: drawText(t), Key: drawItem(t, 2), ConsistentRead: aws.Bool(true)}
	}
	want := types.KeysAndAttributes{ProjectionExpression: drawText(t)}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		want.Keys = append(want.Keys, drawItem(t, 0))
	}
	return schemas.BatchGetItemInput, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{aws.ToString(drawText(t)): want}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

func drawText(t *rapid.T) *string {
	some := rapid.SampledFrom([]string{"", "P#42", ":p", "a = :p AND b BETWEEN :low AND :high", "[", "{", "a:", "it's <b>&~", "é", `"`, `\`, "\x7f", "\n", "\xff"})
	return rapid.Ptr(some, true).Draw(t, "text")
}

func drawItem(t *rapid.T, depth int) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{}
	for range rapid.IntRange(0, 3).Draw(t, "attributes") {
		it[aws.ToString(drawText(t))] = drawValue(t, depth)
	}
	return it
}

func drawValue(t *rapid.T, depth int) types.AttributeValue {
	switch rapid.IntRange(0, 4+2*min(depth, 1)).Draw(t, "type") {
	case 0:
		return &types.AttributeValueMemberN{Value: "17"}
	case 1:
		return &types.AttributeValueMemberBOOL{Value: true}
	case 2:
		return rapid.SampledFrom([]types.AttributeValue{nil, &types.AttributeValueMemberB{Value: []byte("b")}, &types.AttributeValueMemberB{}}).Draw(t, "unusual")
	case 5:
		return &types.AttributeValueMemberM{Value: drawItem(t, depth-1)}
	case 6:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{drawValue(t, depth-1), drawValue(t, depth-1)}}
	}
	return &types.AttributeValueMemberS{Value: aws.ToString(drawText(t))}
}

// What pages ask is usual.
func TestUsualInputs(t *testing.T) {
	for _, row := range []struct {
		in   smithy.Serializable
		want string // empty if it is not usual
	}{
		{&dynamodb.QueryInput{
			TableName: aws.String("comments"), Limit: aws.Int32(21), ScanIndexForward: aws.Bool(false),
			KeyConditionExpression:    aws.String("a = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: "P#42"}},
		}, `{"ExpressionAttributeValues":{":p":{"S":"P#42"}},"KeyConditionExpression":"a = :p","Limit":21,"ScanIndexForward":false,"TableName":"comments"}`},
		{&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"comments": {Keys: []map[string]types.AttributeValue{
			{"PK": &types.AttributeValueMemberS{Value: "P#1"}}, {"PK": &types.AttributeValueMemberS{Value: "P#2"}},
		}}}}, `{"RequestItems":{"comments":{"Keys":[{"PK":{"S":"P#1"}},{"PK":{"S":"P#2"}}]}}}`},
		{&dynamodb.GetItemInput{TableName: aws.String("é")}, ""},
		{&dynamodb.GetItemInput{Key: map[string]types.AttributeValue{"PK": nil}}, ""},
		{&dynamodb.GetItemInput{Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberB{}}}, ""},
	} {
		got, ok := Input(row.in)
		if ok != (row.want != "") || ok && string(got) != row.want {
			t.Errorf("%t, %s\nwant %s", ok, got, row.want)
		}
	}
}
