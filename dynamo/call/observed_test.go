package call

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
)

// throttles counts what an observer is told of throttling, by operation.
type throttles map[string]int

func (n throttles) Throttled(operation string) { n[operation]++ }

func (throttles) Tried(string, int, string, time.Duration) {}
func (throttles) Read(string, string, float64)             {}
func (throttles) Wrote(string, string, float64)            {}
func (throttles) Hedged(bool)                              {}

// Each attempt that DynamoDB throttles is counted once, in whichever way it says so: a batch of which
// a part is left looks like success.
func TestThrottlesAreCounted(t *testing.T) {
	const errorOf = `{"__type":"com.amazonaws.dynamodb.v20120810#`
	key := layout.Item{layout.AttrPK: &types.AttributeValueMemberS{Value: "a"}}
	get := func(ctx context.Context, client BatchGetter) {
		_, _, _ = GetItems(ctx, client, testTable, types.KeysAndAttributes{Keys: []layout.Item{key}})
	}
	sdkGets := func(ctx context.Context, client *dynamodb.Client) { get(ctx, client) }
	leanGets := func(ctx context.Context, client *dynamodb.Client) { get(ctx, mustLean(t, client)) }
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
		want   string // throttled at every attempt, empty for none
	}{
		{"a whole batch", sdkGets, 200, `{"Responses":{}}`, ""},
		{"nothing is left, said at length", leanGets, 200, `{"Responses":{},"UnprocessedKeys":{}}`, ""},
		{"keys are left", sdkGets, 200, `{"UnprocessedKeys":{"` + testTable + `":{"Keys":[{"PK":{"S":"a"}}]}}}`, "BatchGetItem"},
		{"keys of a lean read are left", leanGets, 200, `{"UnprocessedKeys":{"` + testTable + `":{"Keys":[{"PK":{"S":"a"}}]}}}`, "BatchGetItem"},
		{"all is written", writes, 200, `{"UnprocessedItems":{}}`, ""},
		{"writes are left", writes, 200, `{"UnprocessedItems":{"` + testTable + `":[{"DeleteRequest":{"Key":{"PK":{"S":"a"}}}}]}}`, "BatchWriteItem"},
		{"a batch is refused", leanGets, 400, errorOf + `ProvisionedThroughputExceededException"}`, "BatchGetItem"},
		{"a transaction is throttled", transacts, 400, errorOf + `TransactionCanceledException","CancellationReasons":[{"Code":"ThrottlingError"}]}`, "TransactWriteItems"},
		{"its condition does not hold", transacts, 400, errorOf + `TransactionCanceledException","CancellationReasons":[{"Code":"ConditionalCheckFailed"}]}`, ""},
		{"the engine fails", writes, 500, errorOf + `InternalServerError"}`, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			table, got, want := &claiming{status: row.status, body: row.body}, throttles{}, throttles{}
			row.call(t.Context(), Observed(Over(NewLocalClient("http://table"), table), got))
			if row.want != "" {
				want[row.want] = table.calls
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", row.why, diff)
			}
		})
	}
}
