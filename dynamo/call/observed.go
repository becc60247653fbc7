package call

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/dynamo/layout"
)

// Observer is told of calls to the table and its stream. Its methods are called by many goroutines,
// in the midst of calls, so they must be quick.
type Observer interface {
	// Tried is called after each attempt of an operation such as Query, the first is 1. failure is
	// empty, the status of the answer, or timeout, canceled or connection.
	Tried(operation string, attempt int, failure string, took time.Duration)
	// Throttled is called when DynamoDB refuses an attempt since too much is asked of it, or leaves a
	// part of a batch unprocessed.
	Throttled(operation string)
	// Read and Wrote are called with the units that a call consumed of the table or an index, and what
	// it was for.
	Read(index, purpose string, units float64)
	Wrote(index, purpose string, units float64)
	// Hedged is called when a slow read was made twice. won says that the second answer came first.
	Hedged(won bool)
}

// Purposes of calls beside those of a page's plan, for the client of a component.
const (
	ForComments     = "COMMENT"
	ForStatistics   = "STATISTICS"
	ForLeaderboards = "LEADERBOARD"
	ForPageNumbers  = "PAGE_NUMBERS"
	ForCounting     = "COUNTING"
	ForLeases       = "LEASE"
	ForRebuild      = "REBUILD"
	ForMaintenance  = "MAINTENANCE"
)

// Observed returns a client like another one, whose calls an observer is told of. Calls are for
// maintenance unless For says otherwise. Every call then asks for the units that it consumes.
func Observed(client *dynamodb.Client, to Observer) *dynamodb.Client {
	options := client.Options()
	return dynamodb.New(options, func(o *dynamodb.Options) {
		o.Protocol = &observed{options.Protocol, to, ForMaintenance}
		observing := func(under dynamodb.HTTPClient) dynamodb.HTTPClient { return &observedHTTP{under, to} }
		if bounded, ok := options.HTTPClient.(*bounded); ok {
			o.HTTPClient = bounded.around(observing)
			return
		}
		o.HTTPClient = observing(options.HTTPClient)
	})
}

// For returns a client like another one, whose calls are for a purpose. A client that is not
// observed is returned as it is.
func For[C any](client C, purpose string) C {
	var changed any
	switch c := any(client).(type) {
	case *dynamodb.Client:
		changed = forPurpose(c, purpose)
	case *LeanClient:
		if sdk := forPurpose(c.sdk, purpose); sdk != c.sdk {
			changed = c.over(sdk)
		}
	}
	if labelled, ok := changed.(C); ok {
		return labelled
	}
	return client
}

func forPurpose(client *dynamodb.Client, purpose string) *dynamodb.Client {
	options := client.Options()
	p, ok := options.Protocol.(*observed)
	if !ok {
		return client
	}
	return dynamodb.New(options, func(o *dynamodb.Options) { o.Protocol = &observed{p.ClientProtocol, p.to, purpose} })
}

// observed is a protocol that tells an observer what calls consume.
type observed struct {
	smithyhttp.ClientProtocol
	to      Observer
	purpose string
}

// Around returns another protocol, changed as the client's is. What is read of a stream has no
// units.
func (p *observed) Around(other smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	return changedAs(p.ClientProtocol, other)
}

// changedAs returns another protocol, changed as one is: so that its answers are verified too.
func changedAs(one, other smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	if around, ok := one.(interface {
		Around(smithyhttp.ClientProtocol) smithyhttp.ClientProtocol
	}); ok {
		return around.Around(other)
	}
	return other
}

// SerializeRequest implements [smithyhttp.ClientProtocol].
func (p *observed) SerializeRequest(ctx context.Context, schema *smithy.OperationSchema, in smithy.Serializable, request *smithyhttp.Request) error {
	return p.ClientProtocol.SerializeRequest(ctx, schema, askingForUnits(in), request)
}

// askingForUnits returns an input that asks for the units that its call consumes: itself if it does.
func askingForUnits(in smithy.Serializable) smithy.Serializable {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return asking(in, func(c *dynamodb.GetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.QueryInput:
		return asking(in, func(c *dynamodb.QueryInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.ScanInput:
		return asking(in, func(c *dynamodb.ScanInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchGetItemInput:
		return asking(in, func(c *dynamodb.BatchGetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.PutItemInput:
		return asking(in, func(c *dynamodb.PutItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.UpdateItemInput:
		return asking(in, func(c *dynamodb.UpdateItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.DeleteItemInput:
		return asking(in, func(c *dynamodb.DeleteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchWriteItemInput:
		return asking(in, func(c *dynamodb.BatchWriteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.TransactWriteItemsInput:
		return asking(in, func(c *dynamodb.TransactWriteItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	}
	return in
}

// asking returns a copy of an input that asks for units by index, unless the input asks for some.
func asking[In any](in *In, of func(*In) *types.ReturnConsumedCapacity) smithy.Serializable {
	if *of(in) == "" {
		changed := *in // the caller's may be in use by others
		*of(&changed) = types.ReturnConsumedCapacityIndexes
		in = &changed
	}
	return any(in).(smithy.Serializable)
}

// DeserializeResponse implements [smithyhttp.ClientProtocol].
func (p *observed) DeserializeResponse(
	ctx context.Context, schema *smithy.OperationSchema, types *smithy.TypeRegistry, response *smithyhttp.Response, out smithy.Deserializable,
) error {
	err := p.ClientProtocol.DeserializeResponse(ctx, schema, types, response, out)
	if err != nil {
		if refusedForLoad(err) {
			p.to.Throttled(schema.ID().Name)
		}
		return err
	}
	p.tell(ctx, out)
	return nil
}

// refusedForLoad reports whether DynamoDB refused a call, or a part of a transaction, since too much
// is asked of it.
func refusedForLoad(err error) bool {
	var api smithy.APIError
	var canceled *types.TransactionCanceledException
	return errors.As(err, &api) && throttled(api.ErrorCode()) || errors.As(err, &canceled) && HasReason(canceled, throttledReasons...)
}

// tell tells the units of an answer.
func (p *observed) tell(ctx context.Context, out any) {
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		index, purpose := p.labels(ctx)
		p.each(out.ConsumedCapacity, index, purpose, p.to.Read)
	case *dynamodb.ScanOutput:
		p.each(out.ConsumedCapacity, tableIndex, p.purpose, p.to.Read)
	case *dynamodb.GetItemOutput:
		p.each(out.ConsumedCapacity, tableIndex, p.purpose, p.to.Read)
	case *dynamodb.BatchGetItemOutput:
		p.all(out.ConsumedCapacity, p.to.Read)
		p.left("BatchGetItem", len(out.UnprocessedKeys))
	case *dynamodb.PutItemOutput:
		p.each(out.ConsumedCapacity, tableIndex, p.purpose, p.to.Wrote)
	case *dynamodb.UpdateItemOutput:
		p.each(out.ConsumedCapacity, tableIndex, p.purpose, p.to.Wrote)
	case *dynamodb.DeleteItemOutput:
		p.each(out.ConsumedCapacity, tableIndex, p.purpose, p.to.Wrote)
	case *dynamodb.BatchWriteItemOutput:
		p.all(out.ConsumedCapacity, p.to.Wrote)
		p.left("BatchWriteItem", len(out.UnprocessedItems))
	case *dynamodb.TransactWriteItemsOutput:
		p.all(out.ConsumedCapacity, p.to.Wrote)
	}
}

// left tells of a batch of which something was left unprocessed. DynamoDB throttles batches so, by
// an answer that is no error. It also cuts off answers above 16 MB so: 100 comments of 160 KB each.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func (p *observed) left(operation string, tables int) {
	if tables > 0 {
		p.to.Throttled(operation)
	}
}

// labels returns which index a Query reads, and what for: as its taker says, else the leaderboards'
// index for these and the table for all others.
func (p *observed) labels(ctx context.Context) (index, purpose string) {
	if t := takerOf(ctx); t != nil && t.index != "" {
		return t.index, t.purpose
	}
	if p.purpose == ForLeaderboards {
		return string(layout.LeadersIndex), p.purpose
	}
	return tableIndex, p.purpose
}

func (p *observed) all(consumed []types.ConsumedCapacity, tell func(index, purpose string, units float64)) {
	for i := range consumed {
		p.each(&consumed[i], tableIndex, p.purpose, tell)
	}
}

// each tells units by index if the answer has them by index, else all of them of the given index.
func (p *observed) each(consumed *types.ConsumedCapacity, index, purpose string, tell func(index, purpose string, units float64)) {
	if consumed == nil {
		return
	}
	if consumed.Table == nil {
		tell(index, purpose, UnitsOf(consumed))
		return
	}
	tell(tableIndex, purpose, aws.ToFloat64(consumed.Table.CapacityUnits))
	for _, name := range slices.Sorted(maps.Keys(consumed.GlobalSecondaryIndexes)) {
		tell(name, purpose, aws.ToFloat64(consumed.GlobalSecondaryIndexes[name].CapacityUnits))
	}
}

// observedHTTP is an HTTP client that tells an observer of attempts.
type observedHTTP struct {
	under dynamodb.HTTPClient
	to    Observer
}

// Do implements [dynamodb.HTTPClient].
func (o *observedHTTP) Do(request *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := o.under.Do(request)
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	o.to.Tried(operation, attemptOf(request.Header), failureOf(response, err), time.Since(began))
	return response, err
}

// attemptOf returns the number that the SDK gives to an attempt, as in "attempt=2; max=3".
func attemptOf(header http.Header) int {
	_, text, _ := strings.Cut(header.Get(attemptHeader), "attempt=")
	text, _, _ = strings.Cut(text, ";")
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return 1
}

// failureOf says in a word how an attempt failed, empty if it did not.
func failureOf(response *http.Response, err error) string {
	var network net.Error
	switch {
	case err == nil && success(response):
		return ""
	case err == nil:
		return strconv.Itoa(response.StatusCode)
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "connection"
}
