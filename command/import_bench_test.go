package command_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/engine"
)

// BenchmarkImport compares the import of a file, without counting, with a bare loop that writes the
// same items by BatchWriteItem, 25 at a time, into a second table of the same engine. The two take
// turns every few seconds, so that whatever else the machine does slows both. The metric "ratio" is
// the speed of the import over that of the loop.
//
//	go test ./command -run - -bench 'Import$' -benchtime 1x
func BenchmarkImport(b *testing.B) {
	const rounds, rows = 8, 2000
	endpoint := startEngine(b)
	client := call.NewLocalClient(endpoint)
	must.Do(b, dynamo.CreateTable(b.Context(), client, "bare"))
	var imported, bare time.Duration
	for b.Loop() {
		for range rounds {
			file := writeReviews(b, rows)
			batches := batchesOf(b, file, "bare")
			imported += importFile(b, endpoint, "imported", file)
			start := time.Now()
			for _, batch := range batches {
				must.Get(client.BatchWriteItem(b.Context(), batch))(b)
			}
			bare += time.Since(start)
		}
	}
	all := float64(b.N * rounds * rows)
	b.ReportMetric(all/imported.Seconds(), "rows/s")
	b.ReportMetric(all/bare.Seconds(), "bare-rows/s")
	b.ReportMetric(bare.Seconds()/imported.Seconds(), "ratio")
}

// BenchmarkImportLong compares rows 50,001-60,000 of a long import with the first 10,000 of
// another. The two take turns, a thousand rows at a time, each on an engine of its own, so that
// whatever else the machine does slows both. The metric "ratio" is the speed of the long import's
// rows over that of the first ones.
//
//	go test ./command -run - -bench ImportLong -benchtime 1x
func BenchmarkImportLong(b *testing.B) {
	const before, rounds, rows = 50_000, 10, 1000
	var late, early time.Duration
	for b.Loop() {
		long, short := startEngine(b), startEngine(b)
		importFile(b, long, "reviews", writeReviews(b, before))
		for range rounds {
			late += importFile(b, long, "reviews", writeReviews(b, rows))
			early += importFile(b, short, "reviews", writeReviews(b, rows))
		}
	}
	all := float64(b.N * rounds * rows)
	b.ReportMetric(all/early.Seconds(), "first-rows/s")
	b.ReportMetric(all/late.Seconds(), "late-rows/s")
	b.ReportMetric(early.Seconds()/late.Seconds(), "ratio")
}

// startEngine starts the engine as the program does, on disk and with its stream records tended.
func startEngine(tb testing.TB) (endpoint string) {
	tb.Helper()
	local := must.Get(engine.Start(tb.Context(), engine.Options{Folder: tb.TempDir(), Binary: dynamotest.DynoxideBinary(tb), Owner: tb.Name()}))(tb)
	tb.Cleanup(func() {
		if err := local.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return local.Endpoint()
}

// writeReviews writes a file of reviews as Amazon does, of usual length and never the same twice.
func writeReviews(b *testing.B, rows int) (path string) {
	b.Helper()
	text := []byte("marketplace\tcustomer_id\treview_id\tproduct_id\tstar_rating\treview_headline\treview_body\treview_date\n")
	for range rows {
		words := make([]byte, 100+rand.IntN(400))
		for i := range words {
			words[i] = "aeinrst "[rand.IntN(8)]
		}
		text = fmt.Appendf(text, "US\t%d\tR%d\tB%d\t%d\tA headline\t%s\t20%02d-%02d-%02d\n", rand.IntN(1e6), rand.Int64(),
			rand.IntN(3000), 1+rand.IntN(comment.MaxRating), words, 10+rand.IntN(10), 1+rand.IntN(12), 1+rand.IntN(28))
	}
	path = filepath.Join(b.TempDir(), "reviews.tsv")
	writeFile(b, path, string(text))
	return path
}

// importFile runs the command without counting, and returns how long it took.
func importFile(b *testing.B, endpoint, table, file string) time.Duration {
	b.Helper()
	var said strings.Builder
	start := time.Now()
	status := command.Main(b.Context(), []string{"import", file, "--endpoint", endpoint, "--table", table, "--create-table", "--no-count"},
		command.Terminal{Out: io.Discard, Err: &said, Logger: slog.New(slog.DiscardHandler)})
	if status != 0 {
		b.Fatalf("the import ended with status %d: %s", status, &said)
	}
	return time.Since(start)
}

// batchesOf returns the items that an import of the file writes, as ready calls for another table.
func batchesOf(b *testing.B, file, table string) []*dynamodb.BatchWriteItemInput {
	b.Helper()
	recorder := &batchRecorder{table: table}
	must.Get(dynamo.NewLoader(recorder, table, 1).Load(b.Context(), readComments(b, file)))(b)
	return recorder.batches
}

// batchRecorder is an empty table that keeps all writes, as batches of 25.
type batchRecorder struct {
	*dynamodb.Client // nil: a load without updates makes no other calls

	mu      sync.Mutex
	table   string
	batches []*dynamodb.BatchWriteItemInput
}

func (r *batchRecorder) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}, nil
}

func (r *batchRecorder) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.batches) == 0 || len(r.batches[len(r.batches)-1].RequestItems[r.table]) == call.MaxItemsPerWrite {
		r.batches = append(r.batches, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{}})
	}
	last := r.batches[len(r.batches)-1].RequestItems
	last[r.table] = append(last[r.table], types.WriteRequest{PutRequest: &types.PutRequest{Item: in.Item}})
	return &dynamodb.PutItemOutput{}, nil
}
