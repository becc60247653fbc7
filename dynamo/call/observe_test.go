package call

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
	"github.com/google/go-cmp/cmp"
)

// observer notes the spans and the attempts of calls. It is a tracer and a meter.
type observer struct {
	metrics.NopMeter
	mu       sync.Mutex
	spans    []*span
	attempts int64
}

// span is a span that was started.
type span struct {
	tracing.Span
	Title      string
	Properties map[any]any
	Status     tracing.SpanStatus
	Ended      bool
}

func (o *observer) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return o }

func (o *observer) Meter(string, ...metrics.MeterOption) metrics.Meter { return o }

func (o *observer) StartSpan(ctx context.Context, name string, options ...tracing.SpanOption) (context.Context, tracing.Span) {
	var with tracing.SpanOptions
	for _, option := range options {
		option(&with)
	}
	s := &span{Title: name, Properties: map[any]any{}}
	for _, key := range []string{"rpc.system", "rpc.method", "rpc.service", "operation.attempt"} {
		s.Properties[key] = with.Properties.Get(key)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spans = append(o.spans, s)
	return ctx, s
}

func (s *span) SetProperty(key, value any) {
	if key == "error" {
		s.Properties[key] = value
	}
}

func (s *span) SetStatus(status tracing.SpanStatus) { s.Status = status }

func (s *span) End() { s.Ended = true }

func (o *observer) Int64Counter(name string, _ ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	return counter{o, name}, nil
}

// counter counts attempts, and nothing else.
type counter struct {
	*observer
	name string
}

func (c counter) Add(_ context.Context, n int64, _ ...metrics.RecordMetricOption) {
	if c.name == "client.call.attempts" {
		c.attempts += n
	}
}

// A tracer and a meter of a client see lean reads as they see those of the SDK: the call, its loop
// and each attempt.
func TestLeanReadsAreObserved(t *testing.T) {
	for name, table := range map[string]claiming{
		"a read":         {status: 200, body: "{}"},
		"a failed one":   {status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException"}`},
		"a retried one":  {status: 500, body: `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`},
		"a damaged one ": {status: 200, body: "{"},
	} {
		synctest.Test(t, func(t *testing.T) {
			observed := func(lean bool) *observer {
				o, answers := &observer{}, table
				options := NewLocalClient("http://table").Options()
				options.HTTPClient, options.TracerProvider, options.MeterProvider = &answers, o, o
				client := dynamodb.New(options, checked)
				var reader Querier = client
				if lean {
					reader = mustLean(t, client)
					_, _ = reader.Query(t.Context(), smallQuery()) // the first one is prepared by the SDK
					o.spans, o.attempts = nil, 0
				}
				_, _ = reader.Query(t.Context(), smallQuery())
				o.spans = slices.DeleteFunc(o.spans, func(s *span) bool {
					return !slices.Contains([]string{"DynamoDB.Query", "RetryLoop", "Attempt"}, s.Title)
				})
				return o
			}
			sdk, lean := observed(false), observed(true)
			if diff := cmp.Diff(sdk.spans, lean.spans); diff != "" {
				t.Errorf("%s: spans of the SDK (-) and of a lean read (+):\n%s", name, diff)
			}
			if lean.attempts != sdk.attempts || lean.attempts == 0 {
				t.Errorf("%s: %d attempts are counted, by the SDK %d", name, lean.attempts, sdk.attempts)
			}
		})
	}
}
