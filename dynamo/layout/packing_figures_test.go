package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// BenchmarkFigures prints bytes and units, which are the same in every run.
func BenchmarkFigures(b *testing.B) {
	for _, c := range corpora(b) {
		fmt.Printf("%s: %d comments\n%s\n", c.name, len(c.comments), tableOf(b, c))
	}
}

// tableOf measures all ways and returns a table of the figures.
func tableOf(t testing.TB, c corpus) string {
	t.Helper()
	all := ways(t, c)
	first := measure(all[0], c.comments)
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tentry\t\tnewest 20\t\tpages of 10-50\t\tone rating\t\twrite\t")
	for _, w := range all {
		measure(w, c.comments).print(table, w.name, first)
	}
	fatal(t, table.Flush())
	return out.String()
}

// print writes a row of the table, with the difference to another way in percent.
func (f figures) print(table io.Writer, name string, other figures) {
	more := func(value, than float64) string { return fmt.Sprintf("%+.0f %%", 100*(value/than-1)) }
	fmt.Fprintf(table, "%s\t%.0f\t%s\t%.2f\t%s\t%.2f\t%s\t%.2f\t%s\t%.2f\t\n", name, f.entry, more(f.entry, other.entry),
		f.newest, more(f.newest, other.newest), f.pages, more(f.pages, other.pages), f.rating, more(f.rating, other.rating), f.write)
}

// BenchmarkPacking measures the time that each way takes: to decode a page from DynamoDB's answer
// to comments, with the SDK's work, and to encode the item of one comment. cpu-µs/op is processor
// time, with the garbage collector's.
func BenchmarkPacking(b *testing.B) {
	all := corpora(b)
	c := all[slices.IndexFunc(all, func(c corpus) bool { return c.name == longTexts })]
	for _, w := range ways(b, c) {
		b.Run("page/"+w.name, func(b *testing.B) { decodePage(b, w, c.comments[:pageItems]) })
		b.Run("item/"+w.name, func(b *testing.B) { encodeItems(b, w, c.comments) })
	}
}

func decodePage(b *testing.B, w way, comments []comment.Comment) {
	client := dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String("http://localhost"), Credentials: aws.AnonymousCredentials{}, HTTPClient: cannedPage(b, w, comments),
	})
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		output, err := client.Query(b.Context(), &dynamodb.QueryInput{TableName: aws.String("comments")})
		if err != nil || len(output.Items) != len(comments) {
			b.Fatal(err)
		}
		for i, it := range output.Items {
			if got, err := w.decode(it, comments[i].ProductID); err != nil || got.Text != comments[i].Text {
				b.Fatal(err)
			}
		}
	}
	reportProcessorTime(b, before)
}

func encodeItems(b *testing.B, w way, comments []comment.Comment) {
	b.ReportAllocs()
	before := processorTime(b)
	for i := 0; b.Loop(); i++ {
		w.encode(comments[i%len(comments)])
	}
	reportProcessorTime(b, before)
}

// cannedPage returns DynamoDB's answer to a Query of an index for a list.
func cannedPage(b *testing.B, w way, comments []comment.Comment) canned {
	items := make([]map[string]any, len(comments))
	for i, c := range comments {
		it := w.encode(c)
		items[i] = map[string]any{}
		for _, name := range append(listedBy(it), AttrPK) {
			switch value := it[name].(type) {
			case *types.AttributeValueMemberS:
				items[i][name] = map[string]string{"S": value.Value}
			case *types.AttributeValueMemberN:
				items[i][name] = map[string]string{"N": value.Value}
			case *types.AttributeValueMemberB:
				items[i][name] = map[string][]byte{"B": value.Value}
			}
		}
	}
	var body strings.Builder
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"Items": items, "Count": len(items), "ScannedCount": len(items)}); err != nil {
		b.Fatal(err)
	}
	return canned(body.String())
}

// canned answers every call with the same body.
type canned []byte

// Do implements the SDK's HTTPClient.
func (c canned) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode:    http.StatusOK,
		Header:        http.Header{"X-Amz-Crc32": {strconv.FormatUint(uint64(crc32.ChecksumIEEE(c)), 10)}},
		Body:          io.NopCloser(bytes.NewReader(c)),
		ContentLength: int64(len(c)),
		Request:       request,
	}, nil
}

func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func reportProcessorTime(b *testing.B, before time.Duration) {
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
}
