package call

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/smithy-go"
	smithyauth "github.com/aws/smithy-go/auth"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// LeanClient is a client whose reads skip most of the SDK's middleware. The parts of the SDK that
// keep a call right are called one after the other: credentials, endpoint, signer, retries with
// their budget, clock skew, protocol and errors. Writes are calls of the SDK's client.
//
// Options of a single read are followed by the SDK's client, but for NoRetries. Outputs have no
// ResultMetadata. It is safe for concurrent use.
type LeanClient struct {
	sdk          *dynamodb.Client
	query        operation[dynamodb.QueryInput, dynamodb.QueryOutput]
	batchGetItem operation[dynamodb.BatchGetItemInput, dynamodb.BatchGetItemOutput]
	getItem      operation[dynamodb.GetItemInput, dynamodb.GetItemOutput]
}

// Lean returns a lean client for one table. It shares connections, credentials, retries and their
// budget with the client that it is made of. It returns false if that has settings that only the
// SDK knows how to follow.
func Lean(client *dynamodb.Client, table string) (lean *LeanClient, ok bool) {
	options := client.Options()
	scheme, identities, ok := authScheme(options)
	if !ok || !usualSettings(options) || strings.HasPrefix(table, "arn:") { // an ARN can change the endpoint
		return nil, false
	}
	c := &shared{options: options, scheme: scheme, identities: identities, clock: new(atomic.Int64), dated: new(atomic.Pointer[string])}
	return &LeanClient{
		sdk:          client,
		query:        newOperation(c, schemas.Query, schemas.QueryInput, schemas.QueryOutput, client.Query),
		batchGetItem: newOperation(c, schemas.BatchGetItem, schemas.BatchGetItemInput, schemas.BatchGetItemOutput, client.BatchGetItem),
		getItem:      newOperation(c, schemas.GetItem, schemas.GetItemInput, schemas.GetItemOutput, client.GetItem),
	}, true
}

// Query is that of [dynamodb.Client].
func (c *LeanClient) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return c.query.do(ctx, in, options)
}

// BatchGetItem is that of [dynamodb.Client].
func (c *LeanClient) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return c.batchGetItem.do(ctx, in, options)
}

// GetItem is that of [dynamodb.Client].
func (c *LeanClient) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return c.getItem.do(ctx, in, options)
}

// DescribeTable is that of [dynamodb.Client].
func (c *LeanClient) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, options ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return c.sdk.DescribeTable(ctx, in, options...)
}

// PutItem is that of [dynamodb.Client].
func (c *LeanClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return c.sdk.PutItem(ctx, in, options...)
}

// TransactWriteItems is that of [dynamodb.Client].
func (c *LeanClient) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return c.sdk.TransactWriteItems(ctx, in, options...)
}

// over returns the same client with the options of another client of the SDK, which differ in their
// protocol only.
func (c *LeanClient) over(sdk *dynamodb.Client) *LeanClient {
	changed := *c.query.shared
	changed.options = sdk.Options()
	return &LeanClient{sdk, c.query.with(&changed), c.batchGetItem.with(&changed), c.getItem.with(&changed)}
}

// with returns the same kind of call with other things in common.
func (o operation[In, Out]) with(s *shared) operation[In, Out] {
	o.caller = &caller{shared: s, schema: o.schema, retrying: o.retrying, once: o.once}
	return o
}

// authScheme returns how a client signs, and whose name it signs with; false if it does not.
func authScheme(options dynamodb.Options) (smithyhttp.AuthScheme, smithyauth.IdentityResolver, bool) {
	for _, scheme := range options.AuthSchemes {
		if identities := scheme.IdentityResolver(options); identities != nil && options.Credentials != nil {
			return scheme, identities, true
		}
	}
	return nil, nil, false
}

// usualSettings reports whether a client has no settings that change each call: middleware or interceptors
// of its own, logs of requests, compressed answers, discovered endpoints. On AWS Lambda, each
// invocation has a header of its own.
func usualSettings(o dynamodb.Options) bool {
	for _, interceptors := range reflect.ValueOf(o.Interceptors).Fields() {
		if interceptors.Len() > 0 {
			return false
		}
	}
	return !onLambda() && len(o.APIOptions) == 0 && o.ClientLogMode == 0 && !o.EnableAcceptEncodingGzip &&
		o.EndpointDiscovery.EnableEndpointDiscovery != aws.EndpointDiscoveryEnabled
}

// operation is a kind of call.
type operation[In, Out any] struct {
	*caller
	sdk func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)
}

func newOperation[In, Out any](
	s *shared, schema, in, out *smithy.Schema, sdk func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
) operation[In, Out] {
	return operation[In, Out]{sdk: sdk, caller: &caller{
		shared: s, schema: smithy.NewOperationSchema(schema, in, out),
		retrying: newAttempts(s.options, s.options.Retryer, s.clock), once: newAttempts(s.options, aws.NopRetryer{}, s.clock),
	}}
}

// do makes a call.
func (o operation[In, Out]) do(ctx context.Context, in *In, options []func(*dynamodb.Options)) (*Out, error) {
	attempts := o.retrying
	if len(options) > 0 {
		if !onlyNoRetries(options) {
			return o.sdk(ctx, in, options...)
		}
		attempts = o.once
	}
	out := new(Out)
	e := &leanRead{caller: o.caller, out: any(out).(smithy.Deserializable)}
	e.prepare = func(ctx context.Context, option func(*dynamodb.Options)) error {
		_, err := o.sdk(ctx, in, option)
		return err
	}
	if err := e.run(ctx, attempts, any(in).(smithy.Serializable)); err != nil {
		return nil, err
	}
	return out, nil
}

// onlyNoRetries reports whether the options of a call do nothing but what NoRetries does.
func onlyNoRetries(options []func(*dynamodb.Options)) bool {
	var changed dynamodb.Options
	for _, option := range options {
		option(&changed)
	}
	_, none := changed.Retryer.(aws.NopRetryer)
	changed.Retryer = nil
	return none && reflect.ValueOf(changed).IsZero()
}
