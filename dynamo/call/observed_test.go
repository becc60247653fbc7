package call

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/check"
)

// heard adds up what an observer hears of: throttled attempts by operation, and units by index and
// purpose.
type heard map[string]float64

func (h heard) Throttled(operation string)                 { h["throttled "+operation]++ }
func (h heard) Read(index, purpose string, units float64)  { h["read "+index+" "+purpose] += units }
func (h heard) Wrote(index, purpose string, units float64) { h["wrote "+index+" "+purpose] += units }

func (heard) Tried(string, int, string, time.Duration) {}
func (heard) Hedged(bool)                              {}

// Each attempt that DynamoDB throttles is counted once, however the answer shows it: a batch that
// leaves a part unprocessed looks like a success.
func TestThrottlesAreCounted(t *testing.T) {
	const errorOf = `{"__type":"com.amazonaws.dynamodb.v20120810#`
	key := layout.Item{layout.AttrPK: &types.AttributeValueMemberS{Value: "a"}}
	gets := func(ctx context.Context, client *dynamodb.Client) {
		_, _ = GetItems(ctx, client, testTable, types.KeysAndAttributes{Keys: []layout.Item{key}})
	}
	writes := func(ctx context.Context, client *dynamodb.Client) {
		_, _ = client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			testTable: {{DeleteRequest: &types.DeleteRequest{Key: key}}},
		}})
	}
	transacts := func(ctx context.Context, client *dynamodb.Client) {
		_, _ = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: aws.String(testTable), Key: key}},
		}})
	}
	for _, row := range []struct {
		why    string
		call   func(context.Context, *dynamodb.Client)
		status int
		body   string
		want   string // operation that is throttled at every attempt, empty for none
	}{
		{"a whole batch", gets, 200, `{"Responses":{}}`, ""},
		{"nothing is left, said at length", gets, 200, `{"Responses":{},"UnprocessedKeys":{}}`, ""},
		{"keys are left", gets, 200, `{"UnprocessedKeys":{"` + testTable + `":{"Keys":[{"PK":{"S":"a"}}]}}}`, "BatchGetItem"},
		{"all is written", writes, 200, `{"UnprocessedItems":{}}`, ""},
		{"writes are left", writes, 200, `{"UnprocessedItems":{"` + testTable + `":[{"DeleteRequest":{"Key":{"PK":{"S":"a"}}}}]}}`, "BatchWriteItem"},
		{"a batch is refused", gets, 400, errorOf + `ProvisionedThroughputExceededException"}`, "BatchGetItem"},
		{"a transaction is throttled", transacts, 400, errorOf + `TransactionCanceledException","CancellationReasons":[{"Code":"ThrottlingError"}]}`, "TransactWriteItems"},
		{"its condition does not hold", transacts, 400, errorOf + `TransactionCanceledException","CancellationReasons":[{"Code":"ConditionalCheckFailed"}]}`, ""},
		{"the engine fails", writes, 500, errorOf + `InternalServerError"}`, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			table, got, want := &claiming{status: row.status, body: row.body}, heard{}, heard{}
			row.call(t.Context(), Observed(Over(NewLocalClient("http://table"), table), got))
			if row.want != "" {
				want["throttled "+row.want] = float64(table.calls)
			}
			check.Equal(t, want, got, row.why)
		})
	}
}

// Units are reported by index and purpose. The purpose is that of the call's context, else that of
// its client, else maintenance. The last purpose set on a client counts.
func TestUnitsAreTold(t *testing.T) {
	table := &keeping{claiming: claiming{status: 200, body: `{"ConsumedCapacity":{"CapacityUnits":1.5}}`}}
	got := heard{}
	client := Observed(Over(NewLocalClient("http://table"), table), got)
	comments := For(For(client, ForStatistics), ForComments)
	ctx := t.Context()
	_, _ = client.Query(ctx, queryOf("42"))
	_, _ = comments.Query(ctx, queryOf("42"))
	_, _ = comments.Query(WithPurpose(ctx, "PAGE"), queryOf("42"))
	_, _ = comments.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("t"), Key: layout.CommentKey("c")})
	table.body = `{"ConsumedCapacity":{"CapacityUnits":5,"Table":{"CapacityUnits":1},"GlobalSecondaryIndexes":{"all":{"CapacityUnits":3},"byLang":{"CapacityUnits":1}}}}`
	put := &dynamodb.PutItemInput{TableName: aws.String("t"), Item: layout.CommentKey("c")}
	_, _ = comments.PutItem(ctx, put)
	want := heard{
		"read ALL MAINTENANCE": 1.5, "read ALL COMMENT": 1.5, "read ALL PAGE": 1.5, "read table COMMENT": 1.5,
		"wrote table COMMENT": 1, "wrote all COMMENT": 3, "wrote byLang COMMENT": 1,
	}
	check.Equal(t, want, got)
	for _, body := range table.bodies {
		if !strings.Contains(body, `"ReturnConsumedCapacity":"INDEXES"`) {
			t.Errorf("a call does not ask for its units: %s", body)
		}
	}
	if put.ReturnConsumedCapacity != "" {
		t.Error("the input of the caller was changed")
	}
}

// keeping records the bodies of requests.
type keeping struct {
	claiming
	bodies []string
}

// Do implements [dynamodb.HTTPClient].
func (k *keeping) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	k.bodies = append(k.bodies, string(body))
	return k.claiming.Do(request)
}
