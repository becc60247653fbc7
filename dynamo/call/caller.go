package call

import (
	"context"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyauth "github.com/aws/smithy-go/auth"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// shared is what the operations of a lean client share.
type shared struct {
	options    dynamodb.Options
	scheme     smithyhttp.AuthScheme
	identities smithyauth.IdentityResolver
	clock      *atomic.Int64           // by how much DynamoDB's clock is ahead, in nanoseconds
	dated      *atomic.Pointer[string] // the date of the answer that tells, nil for none
}

// caller makes calls of one operation.
type caller struct {
	*shared
	schema         *smithy.OperationSchema
	retrying, once *attempts
	frame          atomic.Pointer[frame] // of the latest account
}

// frameOf returns the frame for the account of an identity. prepare is a call of the SDK's client.
func (c *caller) frameOf(ctx context.Context, identity smithyauth.Identity, prepare func(context.Context, func(*dynamodb.Options)) error) (*frame, error) {
	credentials, err := c.options.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	if f := c.frame.Load(); f != nil && f.account == credentials.AccountID {
		return f, nil
	}
	captured := &capture{id: c.scheme.SchemeID(), identity: identity}
	err = prepare(ctx, func(o *dynamodb.Options) { o.AuthSchemes = []smithyhttp.AuthScheme{captured} })
	if captured.frame == nil {
		return nil, err
	}
	captured.frame.account = credentials.AccountID
	captured.frame.added = addedHeaders
	if credentials.SessionToken != "" {
		captured.frame.added++
	}
	c.frame.Store(captured.frame)
	return captured.frame, nil
}

// observe begins the span of a call, as the SDK's client does: with the tracer that the client's
// options have, under the same name. Spans and metrics of attempts are made by the SDK's own loop.
// Without tracer and meter it does nothing.
func (c *caller) observe(ctx context.Context) (context.Context, func(error)) {
	if !watched(c.options) {
		return ctx, func(error) {}
	}
	name := c.schema.ID().Name
	ctx = middleware.WithOperationName(middleware.WithServiceID(ctx, dynamodb.ServiceID), name)
	tracer := c.options.TracerProvider.Tracer("github.com/aws/aws-sdk-go-v2/service/dynamodb")
	ctx, span := tracer.StartSpan(tracing.WithOperationTracer(ctx, tracer), dynamodb.ServiceID+"."+name, func(o *tracing.SpanOptions) {
		o.Kind = tracing.SpanKindClient
		o.Properties.Set("rpc.system", "aws-api")
		o.Properties.Set("rpc.method", name)
		o.Properties.Set("rpc.service", dynamodb.ServiceID)
	})
	return ctx, func(err error) {
		span.SetProperty("error", err != nil)
		span.SetStatus(tracing.SpanStatusOK)
		if err != nil {
			span.SetStatus(tracing.SpanStatusError)
		}
		span.End()
	}
}
