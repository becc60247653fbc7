package call

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/sample"
)

// How many calls are under way, and how many a way makes in its turn: enough that its garbage is
// collected within them.
const (
	benchAtOnce = 16
	benchTurn   = 800
)

// BenchmarkWays is what a call takes of the processor, by way. The answers come from another
// process, which is not counted: from an engine, or recorded, over TLS or without. The ways take
// turns. Each metric begins with the way: µs and allocations of a call, and x, the time over that
// of the first way.
//
//	go test ./dynamo/call -run '^$' -bench Ways -benchtime 15x
func BenchmarkWays(b *testing.B) {
	reads := newBenchReads(b)
	replayed := startReplay(b, reads.record(b))
	for _, place := range []struct {
		name, endpoint string
		transport      func(*http.Transport)
	}{
		{"engine", reads.endpoint, func(*http.Transport) {}},
		{"recorded", replayed.URL, func(*http.Transport) {}},
		{"recorded TLS", replayed.TLS, replayed.trusted},
	} {
		http := httpClient().WithTransportOptions(place.transport)
		for _, operation := range []string{"Query", "BatchGetItem"} {
			b.Run(operation+"/"+place.name, func(b *testing.B) { reads.compare(b, place.endpoint, http, operation) })
		}
	}
}

// compare lets the ways take turns, and reports their medians. The first is the SDK's client with
// its own HTTP client, which sends a request in two writes.
func (r benchReads) compare(b *testing.B, endpoint string, http dynamodb.HTTPClient, operation string) {
	options := NewLocalClient(endpoint).Options()
	options.HTTPClient = newBounded(http)
	names, clients := []string{"SDK-as-it-is"}, []reads{ways[0].open(options)}
	options.HTTPClient = newBounded(directly(http))
	for _, way := range ways {
		names, clients = append(names, way.name), append(clients, way.open(options))
	}
	turns := make([][]turn, len(clients))
	for _, client := range clients {
		r.turn(b, client, operation) // connections are made
	}
	for b.Loop() {
		for i, client := range clients {
			turns[i] = append(turns[i], r.turn(b, client, operation))
		}
	}
	b.ReportMetric(0, "ns/op") // of all ways together: nothing to compare it with
	first := median(turns[0], func(t turn) float64 { return t.cpu })
	for i, name := range names {
		cpu := median(turns[i], func(t turn) float64 { return t.cpu })
		b.ReportMetric(cpu, name+"-µs")
		b.ReportMetric(cpu/first, name+"-x")
		b.ReportMetric(median(turns[i], func(t turn) float64 { return t.allocs }), name+"-allocs")
		b.ReportMetric(median(turns[i], func(t turn) float64 { return t.bytes }), name+"-B")
	}
}

// turn is what a call took, on average over a turn: microseconds, allocations and their bytes.
type turn struct{ cpu, allocs, bytes float64 }

func median(turns []turn, of func(turn) float64) float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = of(t)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// turn makes calls, several at a time.
func (r benchReads) turn(b *testing.B, client reads, operation string) turn {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime(b)
	var group sync.WaitGroup
	for range benchAtOnce {
		group.Go(func() {
			for range benchTurn / benchAtOnce {
				if n, err := r.ask(context.Background(), client, operation); err != nil || n != 20 {
					b.Errorf("%s: %d items, %v", operation, n, err)
					return
				}
			}
		})
	}
	group.Wait()
	took := processorTime(b) - began
	runtime.ReadMemStats(&after)
	return turn{float64(took.Nanoseconds()) / 1e3 / benchTurn, float64(after.Mallocs-before.Mallocs) / benchTurn, float64(after.TotalAlloc-before.TotalAlloc) / benchTurn}
}

// processorTime is that of this process, without its children.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// benchReads are the two reads of a page: 20 comments, and the statistics of 20 products.
type benchReads struct {
	endpoint, table, product string
}

// newBenchReads fills a table.
func newBenchReads(b *testing.B) benchReads {
	r := benchReads{endpoint: dynamotest.Dynoxide(b), table: dynamotest.TableName(b), product: "42"}
	client := dynamodb.New(NewLocalClient(r.endpoint).Options())
	dynamotest.CreateTable(b, client, layout.Definition(r.table))
	put := func(it layout.Item) {
		if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String(r.table), Item: it}); err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	for c := range sample.Comments() {
		c.ProductID = r.product
		put(layout.Encode(c))
		counts := layout.ProductKey(fmt.Sprint(n), layout.StatisticsSK)
		row := &types.AttributeValueMemberL{}
		for rating := 1; rating <= 5; rating++ {
			row.Value = append(row.Value, layout.Number(int64(n*rating)))
		}
		counts["g"] = &types.AttributeValueMemberM{Value: layout.Item{"en": row}}
		put(counts)
		if n++; n == 20 {
			return r
		}
	}
	b.Fatal("the sample is too small")
	return r
}

// ask makes one of the reads, as the program does, and returns the number of its items.
func (r benchReads) ask(ctx context.Context, client reads, operation string) (items int, err error) {
	if operation == "Query" {
		var found gathered
		_, err := Query(ctx, client, &dynamodb.QueryInput{
			TableName: aws.String(r.table), IndexName: aws.String(string(layout.All)), Limit: aws.Int32(20), ScanIndexForward: aws.Bool(false),
			KeyConditionExpression:    aws.String(layout.All.PartitionAttr() + " = :p"),
			ExpressionAttributeValues: layout.Item{":p": layout.Text(layout.Partition{Index: layout.All}.Key(r.product))},
			ProjectionExpression:      aws.String(layout.ListProjection(true)), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, &found)
		return len(found.comments), err
	}
	var want types.KeysAndAttributes
	for n := range 20 {
		want.Keys = append(want.Keys, layout.ProductKey(fmt.Sprint(n), layout.StatisticsSK))
	}
	rows, _, err := GetEach(ctx, client, r.table, want, func(r *layout.Reader) (rows int) {
		r.Rows("g", func(string, []int64) { rows++ })
		return rows
	})
	return len(rows), err
}

// record returns the answers of the engine, by operation.
func (r benchReads) record(b *testing.B) map[string]string {
	options, tape := NewLocalClient(r.endpoint).Options(), recorder{}
	tape.under = options.HTTPClient
	options.HTTPClient = &tape
	for _, operation := range []string{"Query", "BatchGetItem"} {
		if _, err := r.ask(b.Context(), dynamodb.New(options), operation); err != nil {
			b.Fatal(err)
		}
	}
	return tape.answers
}

// recorder keeps the last answer of each operation.
type recorder struct {
	under   dynamodb.HTTPClient
	answers map[string]string
}

// Do implements [dynamodb.HTTPClient].
func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	response, err := r.under.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read, or the error tells
	body, err := io.ReadAll(response.Body)
	if r.answers == nil {
		r.answers = map[string]string{}
	}
	r.answers[request.Header.Get("X-Amz-Target")] = string(body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// replay is a process that gives recorded answers.
type replay struct {
	URL, TLS    string
	Certificate string // of the latter, PEM
}

// replayVariable makes the test program such a process. It reads the answers from its input, writes
// a replay, and ends with its input.
const replayVariable = "TALKBACK_TEST_REPLAY"

func startReplay(b *testing.B, answers map[string]string) (r replay) {
	command := exec.CommandContext(b.Context(), os.Args[0])
	command.Env = append(os.Environ(), replayVariable+"=1")
	input, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait() // it has nothing to say
	})
	if err := json.NewEncoder(input).Encode(answers); err != nil {
		b.Fatal(err)
	}
	if err := json.NewDecoder(output).Decode(&r); err != nil {
		b.Fatal(err)
	}
	return r
}

// runReplay is the process that startReplay starts.
func runReplay() error {
	input := json.NewDecoder(os.Stdin)
	answers := map[string]string{}
	if err := input.Decode(&answers); err != nil {
		return err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		body := answers[request.Header.Get("X-Amz-Target")]
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10))
		_, _ = io.WriteString(w, body)
	})
	unsecured, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := json.NewEncoder(os.Stdout).Encode(replay{URL: unsecured.URL, TLS: secure.URL, Certificate: string(certificate)}); err != nil {
		return err
	}
	_, err := input.Token() // io.EOF, when the parent ends
	return err
}

// trusted makes a transport trust the process.
func (r replay) trusted(t *http.Transport) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(r.Certificate))
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
