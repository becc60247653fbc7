package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// api speaks DynamoDB's protocol in plain JSON, so that tests see the engine's own answers, and no
// retry of an SDK hides a failure.
type api struct {
	t        testing.TB
	endpoint string
}

type object = map[string]any

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (a api) call(target string, body, answer any) {
	a.t.Helper()
	must.Do(a.t, a.try(target, body, answer))
}

func (a api) try(target string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, a.endpoint, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("X-Amz-Target", target)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=0")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data := must.Get(io.ReadAll(response.Body))(a.t)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", target, response.Status, data)
	}
	return json.Unmarshal(data, answer)
}

// createTable makes a table with a stream.
func (a api) createTable(name string) {
	a.t.Helper()
	a.call("DynamoDB_20120810.CreateTable", object{
		"TableName": name, "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []object{{"AttributeName": "PK", "AttributeType": "S"}},
		"KeySchema":            []object{{"AttributeName": "PK", "KeyType": "HASH"}},
		"StreamSpecification":  object{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
	}, &object{})
}

// write puts items first to first+n-1, 25 at a time.
func (a api) write(table string, first, n int) {
	a.t.Helper()
	for i := first; i < first+n; i += 25 {
		must.Do(a.t, a.batch(table, i, min(25, first+n-i)))
	}
}

// batch puts n items. An item that the engine left unprocessed is an error.
func (a api) batch(table string, first, n int) error {
	var writes []object
	for i := first; i < first+n; i++ {
		item := object{"PK": object{"S": fmt.Sprint(i)}, "text": object{"S": strings.Repeat("x", 300)}}
		writes = append(writes, object{"PutRequest": object{"Item": item}})
	}
	var answer struct{ UnprocessedItems object }
	err := a.try("DynamoDB_20120810.BatchWriteItem", object{"RequestItems": object{table: writes}}, &answer)
	if err == nil && len(answer.UnprocessedItems) > 0 {
		err = fmt.Errorf("unprocessed: %v", answer.UnprocessedItems)
	}
	return err
}

// records returns the numbers of up to 1,000 stream records after the given number.
func (a api) records(table string, after int) []string {
	a.t.Helper()
	const service = "DynamoDBStreams_20120810."
	var streams struct{ Streams []struct{ StreamArn string } }
	a.call(service+"ListStreams", object{"TableName": table}, &streams)
	arn := streams.Streams[0].StreamArn
	var stream struct {
		StreamDescription struct{ Shards []struct{ ShardID string } }
	}
	a.call(service+"DescribeStream", object{"StreamArn": arn}, &stream)
	var start struct{ ShardIterator string }
	a.call(service+"GetShardIterator", object{
		"StreamArn": arn, "ShardId": stream.StreamDescription.Shards[0].ShardID,
		"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": fmt.Sprint(after),
	}, &start)
	var page struct {
		Records []struct {
			Dynamodb struct{ SequenceNumber string }
		}
	}
	a.call(service+"GetRecords", start, &page)
	var numbers []string
	for _, r := range page.Records {
		numbers = append(numbers, r.Dynamodb.SequenceNumber)
	}
	return numbers
}
