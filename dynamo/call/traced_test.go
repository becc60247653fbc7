package call

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/talkback/talkback/internal/commenttest/check"
)

// oneByOne answers calls with one answer after the other. The last one repeats.
type oneByOne struct{ answers []claiming }

// Do implements [dynamodb.HTTPClient].
func (c *oneByOne) Do(request *http.Request) (*http.Response, error) {
	next := c.answers[0]
	if len(c.answers) > 1 {
		c.answers = c.answers[1:]
	}
	if next.status == 0 {
		_, _ = io.Copy(io.Discard, request.Body)
		return nil, io.ErrUnexpectedEOF
	}
	return next.Do(request)
}

// A call has one span, with its table, index, units and retries, and with the code of its error.
// The text of an error stays out of the span, since it may cite a key.
func TestTracedCalls(t *testing.T) {
	const secret = "somebody@example.com"
	page := claiming{status: 200, body: `{"Count":1,"ScannedCount":3,"Items":[],"ConsumedCapacity":{"TableName":"t","CapacityUnits":2.5}}`}
	failed := claiming{status: 500, body: `{"__type":"x#InternalServerError","message":"` + secret + `"}`}
	refused := claiming{status: 400, body: `{"__type":"x#ValidationException","message":"` + secret + `"}`}
	query := func() *dynamodb.QueryInput {
		in := queryOf("42")
		in.IndexName, in.Limit = aws.String("GSI2"), aws.Int32(20)
		return in
	}
	const about = "aws.dynamodb.index_name=GSI2 aws.dynamodb.limit=20 "
	for _, row := range []struct {
		why     string
		answers []claiming
		want    string
	}{
		{"answered", []claiming{page}, about + "aws.dynamodb.count=1 aws.dynamodb.scanned_count=3 talkback.read_units=2.5"},
		{"retried", []claiming{failed, {}, page}, about + "aws.dynamodb.count=1 aws.dynamodb.scanned_count=3 talkback.read_units=2.5 http.request.resend_count=2"},
		{"refused", []claiming{refused}, about + "error.type=ValidationException"},
		{"cut off", []claiming{{}}, about + "http.request.resend_count=2 error.type=_OTHER"},
	} {
		recorder := tracetest.NewSpanRecorder()
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("")
		client := Traced(Over(NewLocalClient("http://table"), &oneByOne{row.answers}), "t")
		ctx, parent := tracer.Start(t.Context(), "operation")
		_, _ = client.Query(ctx, query())
		_, _ = client.Query(t.Context(), query()) // outside of a trace
		if ended := recorder.Ended(); len(ended) != 1 || ended[0].Name() != "Query" || ended[0].Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Fatalf("%s: %d spans", row.why, len(ended))
		}
		want := "db.system.name=aws.dynamodb db.operation.name=Query db.collection.name=t " + row.want
		check.Equal(t, want, attributesText(recorder.Ended()[0].Attributes()), row.why)
		if all := fmt.Sprintf("%+v", tracetest.SpanStubsFromReadOnlySpans(recorder.Ended())); strings.Contains(all, secret) {
			t.Errorf("%s: the text of an error is in the span", row.why)
		}
	}
}

// attributesText returns attributes as a line of text.
func attributesText(attributes []attribute.KeyValue) string {
	var words []string
	for _, a := range attributes {
		words = append(words, string(a.Key)+"="+a.Value.String())
	}
	return strings.Join(words, " ")
}
