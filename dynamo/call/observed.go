package call

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Observer observes calls to the table and its stream. Many goroutines call its methods during
// calls, so they must be quick.
type Observer interface {
	// Tried is called after each attempt of an operation such as Query; the first attempt is 1.
	// failure is empty after a success. Otherwise it is the HTTP status, or timeout, canceled or
	// connection.
	Tried(operation string, attempt int, failure string, took time.Duration)
	// Throttled is called when DynamoDB throttles an attempt, or leaves a part of a batch
	// unprocessed.
	Throttled(operation string)
	// Read and Wrote are called with the units that a call consumed in the table or an index, and
	// the purpose of the call.
	Read(index, purpose string, units float64)
	Wrote(index, purpose string, units float64)
	// Hedged is called when a slow read was made twice. won is whether the second answer came
	// first.
	Hedged(won bool)
}

// Observed returns a copy of a client that reports its calls to an observer. Their purpose is
// maintenance unless For or WithPurpose set another. Every call of it asks for the units that it
// consumes.
func Observed(client *dynamodb.Client, to Observer) *dynamodb.Client {
	calls := observed{to}
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = &observedHTTP{o.HTTPClient, to}
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return errors.Join(
				stack.Initialize.Add(middleware.InitializeMiddlewareFunc("ObserveUnits", calls.call), middleware.After),
				stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("ObserveThrottling", calls.attempt), middleware.Before))
		})
	})
}

// observed has the middlewares that report calls to an observer.
type observed struct{ to Observer }

// call reports the units of a call. Unless the call asks for units already, it makes the call ask
// for them by index.
func (o observed) call(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	given := reflect.ValueOf(in.Parameters).Elem()
	if of := given.FieldByName("ReturnConsumedCapacity"); of.IsValid() && of.String() == "" {
		asking := reflect.New(given.Type()) // a copy: the caller may share its input
		asking.Elem().Set(given)
		asking.Elem().FieldByName("ReturnConsumedCapacity").SetString(string(types.ReturnConsumedCapacityIndexes))
		in.Parameters = asking.Interface()
	}
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		var index *string // nil for the table itself
		switch input := in.Parameters.(type) {
		case *dynamodb.QueryInput:
			index = input.IndexName
		case *dynamodb.ScanInput:
			index = input.IndexName
		}
		o.report(cmp.Or(aws.ToString(index), tableIndex), cmp.Or(purposeOf(ctx), ForMaintenance), out.Result)
	}
	return out, metadata, err
}

// attempt reports an attempt that was throttled, in whole or in a part of its transaction.
func (o observed) attempt(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if ofTable(ctx) && (throttled(CodeOf(err)) || HasReason(err, throttledReasons...)) {
		o.to.Throttled(middleware.GetOperationName(ctx))
	}
	return out, metadata, err
}

// ofTable reports whether a call is to the table, and not to its stream.
func ofTable(ctx context.Context) bool { return middleware.GetServiceID(ctx) == dynamodb.ServiceID }

// tableIndex means the table itself, in place of an index.
const tableIndex = "table"

// report reports the units of an answer, and a batch with unprocessed items. DynamoDB returns
// unprocessed items without an error when it throttles. It also does so above 16 MB an answer: 100
// comments of 160 KB each.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func (o observed) report(index, purpose string, out any) {
	consumed, written := consumption(out)
	units := o.to.Read
	if written {
		units = o.to.Wrote
	}
	for i := range consumed {
		by := &consumed[i]
		if by.Table == nil { // the answer does not list units by index
			units(index, purpose, UnitsOf(by))
			continue
		}
		units(tableIndex, purpose, aws.ToFloat64(by.Table.CapacityUnits))
		for _, name := range slices.Sorted(maps.Keys(by.GlobalSecondaryIndexes)) {
			units(name, purpose, aws.ToFloat64(by.GlobalSecondaryIndexes[name].CapacityUnits))
		}
	}
	switch out := out.(type) {
	case *dynamodb.BatchGetItemOutput:
		if len(out.UnprocessedKeys) > 0 {
			o.to.Throttled("BatchGetItem")
		}
	case *dynamodb.BatchWriteItemOutput:
		if len(out.UnprocessedItems) > 0 {
			o.to.Throttled("BatchWriteItem")
		}
	}
}

// consumption returns the units in an answer, and whether they are write units.
func consumption(out any) (consumed []types.ConsumedCapacity, written bool) {
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		return asList(out.ConsumedCapacity), false
	case *dynamodb.ScanOutput:
		return asList(out.ConsumedCapacity), false
	case *dynamodb.GetItemOutput:
		return asList(out.ConsumedCapacity), false
	case *dynamodb.BatchGetItemOutput:
		return out.ConsumedCapacity, false
	case *dynamodb.PutItemOutput:
		return asList(out.ConsumedCapacity), true
	case *dynamodb.UpdateItemOutput:
		return asList(out.ConsumedCapacity), true
	case *dynamodb.DeleteItemOutput:
		return asList(out.ConsumedCapacity), true
	case *dynamodb.BatchWriteItemOutput:
		return out.ConsumedCapacity, true
	case *dynamodb.TransactWriteItemsOutput:
		return out.ConsumedCapacity, true
	}
	return nil, false
}

func asList(consumed *types.ConsumedCapacity) []types.ConsumedCapacity {
	if consumed == nil {
		return nil
	}
	return []types.ConsumedCapacity{*consumed}
}

// observedHTTP is an HTTP client that reports attempts to an observer.
type observedHTTP struct {
	under dynamodb.HTTPClient
	to    Observer
}

// Do implements [dynamodb.HTTPClient].
func (o *observedHTTP) Do(request *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := o.under.Do(request)
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	_, number, _ := strings.Cut(request.Header.Get("Amz-Sdk-Request"), "attempt=") // as in "attempt=2; max=3"
	number, _, _ = strings.Cut(number, ";")
	attempt, _ := strconv.Atoi(number) // 0 without the header
	failure := "connection"
	var network net.Error
	switch {
	case err == nil && success(response):
		failure = ""
	case err == nil:
		failure = strconv.Itoa(response.StatusCode)
	case errors.Is(err, context.Canceled):
		failure = "canceled"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		failure = "timeout"
	}
	o.to.Tried(operation, max(1, attempt), failure, time.Since(began))
	return response, err
}

// Purposes of calls for clients of components. Plans of pages have their own.
const (
	ForComments     = "COMMENT"
	ForStatistics   = "STATISTICS"
	ForLeaderboards = "LEADERBOARD"
	ForPageNumbers  = "PAGE_NUMBERS"
	ForCounting     = "COUNTING"
	ForLeases       = "LEASE"
	ForOutbox       = "OUTBOX"
	ForRebuild      = "REBUILD"
	ForMaintenance  = "MAINTENANCE"
)

// For returns a copy of a client whose calls have a purpose, unless their context has one. If For
// is applied repeatedly, the last purpose counts, because its middleware comes first. A client that
// is not the SDK's is returned unchanged.
func For[C any](client C, purpose string) C {
	sdk, ok := any(client).(*dynamodb.Client)
	if !ok {
		return client
	}
	label := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if purposeOf(ctx) == "" {
			ctx = WithPurpose(ctx, purpose)
		}
		return next.HandleInitialize(ctx, in)
	}
	labelled := dynamodb.New(sdk.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Purpose", label), middleware.Before)
		})
	})
	return any(labelled).(C)
}

type purposeKey struct{}

// WithPurpose returns a context whose calls have a purpose, regardless of that of their client.
func WithPurpose(ctx context.Context, purpose string) context.Context {
	return context.WithValue(ctx, purposeKey{}, purpose)
}

func purposeOf(ctx context.Context) string {
	purpose, _ := ctx.Value(purposeKey{}).(string)
	return purpose
}
