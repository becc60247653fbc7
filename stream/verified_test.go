package stream_test

import (
	"hash/crc32"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// answering answers every call the same, with a checksum.
type answering struct {
	body     string
	checksum uint32
	calls    int
}

// Do implements dynamodb.HTTPClient.
func (a *answering) Do(request *http.Request) (*http.Response, error) {
	a.calls++
	answer := faulttest.Answer(request, http.StatusOK, a.body)
	answer.Header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(a.checksum), 10))
	return answer, nil
}

// clients are the ways in which a process may wrap the client of its table.
var clients = map[string]func(*dynamodb.Client) *dynamodb.Client{
	"as it is": func(c *dynamodb.Client) *dynamodb.Client { return c },
	"traced":   func(c *dynamodb.Client) *dynamodb.Client { return call.Traced(c, "table") },
	"observed": func(c *dynamodb.Client) *dynamodb.Client { return call.Observed(c, new(dynamotest.Meter)) },
	"traced and observed": func(c *dynamodb.Client) *dynamodb.Client {
		return call.Observed(call.Traced(c, "table"), new(dynamotest.Meter))
	},
}

// Records that were damaged on their way are never counted: they are read again.
func TestDamagedRecordsAreNotTaken(t *testing.T) {
	const none = `{"Records":[],"NextShardIterator":"next"}`
	right := crc32.ChecksumIEEE([]byte(none))
	for _, row := range []struct {
		why    string
		answer answering
		fails  bool
	}{
		{"the checksum is right", answering{body: none, checksum: right}, false},
		{"the checksum is wrong", answering{body: none, checksum: right + 1}, true},
		{"the answer is empty", answering{}, true},
	} {
		for name, made := range clients {
			synctest.Test(t, func(t *testing.T) {
				answer := row.answer
				client := stream.NewClient(made(call.Over(call.NewLocalClient("http://table"), &answer)))
				_, err := client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("here")})
				if (err != nil) != row.fails || (answer.calls > 1) != row.fails {
					t.Errorf("%s, client %s: %d calls, %v", row.why, name, answer.calls, err)
				}
			})
		}
	}
}
