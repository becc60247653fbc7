package call

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/tracing"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"go.opentelemetry.io/otel/attribute"

	"github.com/talkback/talkback/telemetry/spans"
)

// Traced returns a client like another one, whose calls have spans within the span of their
// context. A call outside of one has none. All calls are of one table.
func Traced(client *dynamodb.Client, table string) *dynamodb.Client {
	options := client.Options()
	return dynamodb.New(options, func(o *dynamodb.Options) {
		o.Protocol, o.TracerProvider = &traced{options.Protocol, table}, tracers{}
	})
}

// tracers is the tracer of traced clients. The SDK begins some ten spans for a call, one of which
// is the call's own. The others are left out, except that attempts are counted.
type tracers struct{}

// Tracer implements [tracing.TracerProvider].
func (tracers) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return tracers{} }

const spanPrefix = dynamodb.ServiceID + "."

// StartSpan implements [tracing.Tracer].
func (tracers) StartSpan(ctx context.Context, name string, _ ...tracing.SpanOption) (context.Context, tracing.Span) {
	call := tracedCallOf(ctx)
	operation, whole := strings.CutPrefix(name, spanPrefix)
	switch {
	case call != nil && name == "Attempt":
		call.attempts, call.code = call.attempts+1, ""
	case call != nil && whole: // by which a lean client prepares its first call
		return context.WithValue(ctx, tracedCallKey{}, &tracedCall{}), untraced
	case whole:
		if ctx, span := spans.Call(ctx, operation); span.Recording() {
			call = &tracedCall{Span: untraced, span: span}
			return context.WithValue(ctx, tracedCallKey{}, call), call
		}
	}
	return ctx, untraced
}

// untraced is a span of smithy that is not recorded.
var _, untraced = (&tracing.NopTracerProvider{}).Tracer("").StartSpan(context.Background(), "")

// tracedCall is a call whose span is recorded. One goroutine at a time uses it.
type tracedCall struct {
	tracing.Span
	span     spans.Span
	attempts int
	code     string // of the last error
	failed   bool
}

type tracedCallKey struct{}

// tracedCallOf returns the call that a context is of, nil for none.
func tracedCallOf(ctx context.Context) *tracedCall {
	c, _ := ctx.Value(tracedCallKey{}).(*tracedCall)
	return c
}

// SetProperty implements [tracing.Span]. It takes nothing: what the SDK sets has texts of errors,
// which may cite keys.
func (c *tracedCall) SetProperty(any, any) {}

// SetStatus implements [tracing.Span].
func (c *tracedCall) SetStatus(status tracing.SpanStatus) {
	c.failed = status == tracing.SpanStatusError
}

// otherError is the reason of an error without a code, as of a connection that broke.
const otherError = "_OTHER"

// End implements [tracing.Span].
func (c *tracedCall) End() {
	if c.attempts > 1 {
		c.span.Set(attribute.Int("http.request.resend_count", c.attempts-1))
	}
	if c.failed {
		c.span.Fail(firstOf(c.code, otherError))
	}
	c.span.End()
}

// took notes the outcome of an attempt.
func (c *tracedCall) took(out any, err error) {
	var api smithy.APIError
	switch {
	case err == nil:
		c.span.Set(answered(out)...)
	case errors.As(err, &api):
		c.code = api.ErrorCode()
	}
}

// traced is a protocol that tells the spans of calls what goes in and out.
type traced struct {
	smithyhttp.ClientProtocol
	table string
}

// Around returns another protocol, changed as the client's is. Calls to a stream have no spans.
func (p *traced) Around(other smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	return changedAs(p.ClientProtocol, other)
}

// SerializeRequest implements [smithyhttp.ClientProtocol].
func (p *traced) SerializeRequest(ctx context.Context, schema *smithy.OperationSchema, in smithy.Serializable, request *smithyhttp.Request) error {
	if call := tracedCallOf(ctx); call != nil {
		call.span.Set(attrTable.String(p.table))
		call.span.Set(asked(in)...)
	}
	return p.ClientProtocol.SerializeRequest(ctx, schema, in, request)
}

// DeserializeResponse implements [smithyhttp.ClientProtocol].
func (p *traced) DeserializeResponse(
	ctx context.Context, schema *smithy.OperationSchema, types *smithy.TypeRegistry, response *smithyhttp.Response, out smithy.Deserializable,
) error {
	err := p.ClientProtocol.DeserializeResponse(ctx, schema, types, response, out)
	if call := tracedCallOf(ctx); call != nil {
		call.took(out, err)
	}
	return err
}
