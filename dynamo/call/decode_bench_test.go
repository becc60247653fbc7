package call

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// BenchmarkDecode measures what an answer of 20 comments takes to become comments: by the SDK's
// decoder and maps, by package wire and maps, and by records.
//
//	go test ./dynamo/call -run '^$' -bench Decode -count 5
func BenchmarkDecode(b *testing.B) {
	body := recordedQuery(b)
	sdk := NewLocalClient("http://table").Options().Protocol.(*protocol).ClientProtocol
	schema := smithy.NewOperationSchema(schemas.Query, schemas.QueryInput, schemas.QueryOutput)
	for _, way := range []struct {
		name   string
		decode func(out *dynamodb.QueryOutput, t *taker) error
	}{
		{"SDK", func(out *dynamodb.QueryOutput, _ *taker) error {
			response := &smithyhttp.Response{Response: &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(body))}}
			return sdk.DeserializeResponse(b.Context(), schema, dynamodb.TypeRegistry, response, out)
		}},
		{"maps", func(out *dynamodb.QueryOutput, _ *taker) error { return decodeUsual(body, out, nil) }},
		{"records", func(out *dynamodb.QueryOutput, t *taker) error { return decodeUsual(body, out, t) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var out dynamodb.QueryOutput
				got := &gathered{}
				t := &taker{items: got}
				if err := way.decode(&out, t); err != nil {
					b.Fatal(err)
				}
				if out.Items != nil {
					t.takeMaps(out.Items)
				}
				if len(got.comments) != benchItems {
					b.Fatalf("%d comments", len(got.comments))
				}
			}
		})
	}
}

// gathered are the comments of an answer.
type gathered struct{ comments []layout.Compressed }

// Begin implements [Taker].
func (g *gathered) Begin(items int) { g.comments = make([]layout.Compressed, 0, items) }

// Take implements [Taker].
func (g *gathered) Take(item *layout.Reader) {
	g.comments = append(g.comments, layout.Compressed{})
	if err := item.Compressed(&g.comments[len(g.comments)-1], "stand-mixer", true); err != nil {
		panic(err)
	}
}

const benchItems = 20

func benchQuery() *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String("t"), IndexName: aws.String("byProduct"), Limit: aws.Int32(benchItems + 1), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: aws.String("A = :p AND PK <= :high"), FilterExpression: aws.String("r IN (:r0,:r1)"),
		ProjectionExpression: aws.String(layout.ListProjection(true)), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		ExpressionAttributeValues: layout.Item{
			":p": layout.Text("P#stand-mixer"), ":high": layout.Text("C#01HZ0000000000000000000000"), ":r0": layout.Number(4), ":r1": layout.Number(5),
		},
	}
}

// answer answers as DynamoDB does.
func answer(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", "GNR2EIP5U1SVUQK4C5UM7IBV6VVV4KQNSO5AEMVJF66Q9ASUAAJG")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	_, _ = w.Write(body)
}

// recordedQuery is the answer to a Query of 20 comments, some 11 KB.
func recordedQuery(tb testing.TB) []byte {
	r := commenttest.Rand(tb)
	var items []any
	for _, c := range commenttest.Many(r, "stand-mixer", benchItems) {
		c.Text = strings.Repeat("It kneads well, and is quiet. ", 1+r.IntN(20)) + rand.Text() + rand.Text()
		it := layout.Encode(c)
		for _, index := range layout.ListIndexes() {
			delete(it, index.PartitionAttr())
		}
		delete(it, layout.AttrSK)
		items = append(items, dynamotest.JSON(it))
	}
	return marshal(tb, map[string]any{
		"Count": benchItems, "ScannedCount": benchItems, "Items": items,
		"LastEvaluatedKey": dynamotest.JSON(layout.Item{layout.AttrPK: layout.Text("C#01HZ0000000000000000000000"), layout.AttrSK: layout.Text("C"), layout.AttrAll: layout.Text("P#stand-mixer")}),
		"ConsumedCapacity": map[string]any{"TableName": "t", "CapacityUnits": 1.5},
	})
}

func marshal(tb testing.TB, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}
