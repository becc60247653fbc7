package engine

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/stream"
)

// api is an engine as programs see it. No retry hides a failure, and no connection is left behind.
type api struct {
	testing.TB
	client *dynamodb.Client
}

func apiOf(t testing.TB, e *Engine) api {
	return api{t, dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(e.Endpoint()), Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer: aws.NopRetryer{}, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})}
}

// createTable makes a table with a stream.
func (a api) createTable(name string) {
	a.Helper()
	must.Get(a.client.CreateTable(a.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}))(a)
}

// write puts items first to first+n-1, 25 at a time.
func (a api) write(table string, first, n int) {
	a.Helper()
	for i := first; i < first+n; i += 25 {
		must.Do(a, a.batch(table, i, min(25, first+n-i)))
	}
}

// batch puts n items. An item that the engine left unprocessed is an error.
func (a api) batch(table string, first, n int) error {
	var writes []types.WriteRequest
	text := &types.AttributeValueMemberS{Value: strings.Repeat("x", 300)}
	for i := first; i < first+n; i++ {
		item := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}, "text": text}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	output, err := a.client.BatchWriteItem(a.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
	if err == nil && len(output.UnprocessedItems) > 0 {
		err = fmt.Errorf("unprocessed: %v", output.UnprocessedItems)
	}
	return err
}

// records returns the numbers of the first records of a table's stream, up to 1,000.
func (a api) records(table string) (numbers []string) {
	a.Helper()
	source := stream.NewSource(stream.NewClient(a.client), a.client, table)
	listing := must.Get(source.Shards(a.Context()))(a)
	first := must.Get(source.Open(a.Context(), listing.Label, listing.Shards[0].ID, ""))(a)
	for _, r := range must.Get(source.Read(a.Context(), listing.Label, first))(a).Records {
		numbers = append(numbers, r.Sequence)
	}
	return numbers
}
