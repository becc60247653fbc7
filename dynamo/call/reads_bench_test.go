package call

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// reader is what the ways of reading have in common.
type reader interface {
	Querier
	BatchGetter
}

// readWays are the ways to read, each over its own connections.
func readWays(tb testing.TB, endpoint string) []struct {
	name string
	reader
} {
	lean, ok := Lean(NewLocalClient(endpoint), "t")
	if !ok {
		tb.Fatal("the local client cannot be lean")
	}
	type way = struct {
		name string
		reader
	}
	return []way{
		{"sdk", dynamodb.New(NewLocalClient(endpoint).Options(), func(o *dynamodb.Options) { o.HTTPClient = httpClient() })},
		{"protocol", NewLocalClient(endpoint)},
		{"lean", lean},
	}
}

// BenchmarkReads measures what a read costs its client, 16 at a time, beside the SDK's own client.
// The table is a process of its own that gives recorded answers, so its time does not count.
//
//	go test ./dynamo/call -run '^$' -bench Reads -benchtime 5000x -count 5
func BenchmarkReads(b *testing.B) {
	endpoint := startRecorded(b)
	ctx := context.Background()
	for _, way := range readWays(b, endpoint) {
		for name, read := range map[string]func() error{
			"Query": func() error {
				out, err := way.Query(ctx, benchQuery())
				if err == nil && len(out.Items) != benchItems {
					err = fmt.Errorf("%d items", len(out.Items))
				}
				return err
			},
			"BatchGetItem": func() error {
				out, err := way.BatchGetItem(ctx, benchBatch())
				if err == nil && len(out.Responses["t"]) != benchItems {
					err = fmt.Errorf("%d items", len(out.Responses["t"]))
				}
				return err
			},
		} {
			b.Run(name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism(16 / min(16, parallel()))
				before := cpu(b)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := read(); err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
			})
		}
	}
}

// parallel is how many goroutines RunParallel starts for each unit of parallelism.
func parallel() int { return runtime.GOMAXPROCS(0) }

// cpu is the processor time that this process has used.
func cpu(tb testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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

func benchBatch() *dynamodb.BatchGetItemInput {
	var keys []layout.Item
	for i := range benchItems {
		keys = append(keys, layout.ProductKey("stand-mixer-"+strconv.Itoa(i), layout.StatisticsSK))
	}
	return &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"t": {Keys: keys}}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// startRecorded starts a table in a process of its own, and returns its address.
func startRecorded(tb testing.TB) string {
	tb.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestServeRecorded$")
	command.Env = append(os.Environ(), "CALL_SERVE_RECORDED=1")
	out, err := command.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := command.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		tb.Fatal(err)
	}
	return "http://" + address
}

// TestServeRecorded is the process of startRecorded. It ends when it is killed.
func TestServeRecorded(t *testing.T) {
	if os.Getenv("CALL_SERVE_RECORDED") == "" {
		t.Skip("only as a process of its own")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(listener.Addr())
	recorded := map[string][]byte{"DynamoDB_20120810.Query": recordedQuery(t), "DynamoDB_20120810.BatchGetItem": recordedBatch(t)}
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, recorded[r.Header.Get("X-Amz-Target")])
	}))
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
		items = append(items, jsonOf(it))
	}
	return marshal(tb, map[string]any{
		"Count": benchItems, "ScannedCount": benchItems, "Items": items,
		"LastEvaluatedKey": jsonOf(layout.Item{layout.AttrPK: layout.Text("C#01HZ0000000000000000000000"), layout.AttrSK: layout.Text("C"), layout.AttrAll: layout.Text("P#stand-mixer")}),
		"ConsumedCapacity": map[string]any{"TableName": "t", "CapacityUnits": 1.5},
	})
}

// recordedBatch is the answer to a BatchGetItem of 20 products' statistics.
func recordedBatch(tb testing.TB) []byte {
	var items []any
	for i := range benchItems {
		it := layout.ProductKey("stand-mixer-"+strconv.Itoa(i), layout.StatisticsSK)
		row := []types.AttributeValue{layout.Number(1), layout.Number(0), layout.Number(3), layout.Number(12), layout.Number(31)}
		it["n"] = layout.Number(47)
		it["g"] = &types.AttributeValueMemberM{Value: layout.Item{"en": &types.AttributeValueMemberL{Value: row}}}
		items = append(items, jsonOf(it))
	}
	return marshal(tb, map[string]any{
		"Responses": map[string]any{"t": items}, "UnprocessedKeys": map[string]any{},
		"ConsumedCapacity": []any{map[string]any{"TableName": "t", "CapacityUnits": 10}},
	})
}

func marshal(tb testing.TB, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// jsonOf returns an item as DynamoDB writes it.
func jsonOf(it layout.Item) map[string]any {
	out := map[string]any{}
	for name, value := range it {
		out[name] = jsonValue(value)
	}
	return out
}

func jsonValue(value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": jsonOf(v.Value)}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, element := range v.Value {
			list = append(list, jsonValue(element))
		}
		return map[string]any{"L": list}
	}
	panic(fmt.Sprintf("no JSON for %T", value))
}
