package call

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"go.opentelemetry.io/otel/attribute"

	"github.com/talkback/talkback/telemetry/spans"
)

// Traced returns a client like another one, whose calls have spans within the span of their
// context. A call outside of one has none, and neither has a call to a stream. All calls are of one
// table.
func Traced(client *dynamodb.Client, table string) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Trace", traced(table).call), middleware.Before)
		})
	})
}

// traced is the middleware that makes spans of calls to a table.
type traced string

// otherError is the reason of an error without a code, as of a connection that broke.
const otherError = "_OTHER"

// call makes the span of a call. What an error says stays out of it, since it may cite keys.
func (t traced) call(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	if !ofTable(ctx) {
		return next.HandleInitialize(ctx, in)
	}
	ctx, span := spans.Call(ctx, middleware.GetOperationName(ctx))
	if !span.Recording() {
		return next.HandleInitialize(ctx, in)
	}
	defer span.End()
	span.Set(attrTable.String(string(t)))
	span.Set(inputAttributes(in.Parameters)...)
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		span.Set(outputAttributes(out.Result)...)
	}
	if attempts, _ := retry.GetAttemptResults(metadata); len(attempts.Results) > 1 {
		span.Set(attribute.Int("http.request.resend_count", len(attempts.Results)-1))
	}
	if err != nil {
		span.Fail(cmp.Or(CodeOf(err), otherError))
	}
	return out, metadata, err
}

// Names of attributes of calls. https://opentelemetry.io/docs/specs/semconv/database/dynamodb/
const (
	attrTable      = attribute.Key("db.collection.name")
	attrIndex      = attribute.Key("aws.dynamodb.index_name")
	attrLimit      = attribute.Key("aws.dynamodb.limit")
	attrCount      = attribute.Key("aws.dynamodb.count")
	attrScanned    = attribute.Key("aws.dynamodb.scanned_count")
	attrBatch      = attribute.Key("db.operation.batch.size")
	attrReadUnits  = attribute.Key("talkback.read_units")
	attrWriteUnits = attribute.Key("talkback.write_units")
)

// inputAttributes returns what the span of a call says of its input: the index, how many items. Keys
// and values stay out.
func inputAttributes(in any) []attribute.KeyValue {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		return listAttributes(in.IndexName, in.Limit)
	case *dynamodb.ScanInput:
		return listAttributes(in.IndexName, in.Limit)
	case *dynamodb.BatchGetItemInput:
		for _, wanted := range in.RequestItems {
			return []attribute.KeyValue{attrBatch.Int(len(wanted.Keys))}
		}
	case *dynamodb.BatchWriteItemInput:
		for _, writes := range in.RequestItems {
			return []attribute.KeyValue{attrBatch.Int(len(writes))}
		}
	case *dynamodb.TransactWriteItemsInput:
		return []attribute.KeyValue{attrBatch.Int(len(in.TransactItems))}
	}
	return nil
}

func listAttributes(index *string, limit *int32) (out []attribute.KeyValue) {
	if index != nil {
		out = append(out, attrIndex.String(*index))
	}
	if limit != nil {
		out = append(out, attrLimit.Int(int(*limit)))
	}
	return out
}

// outputAttributes returns what the span of a call says of its output: items and units.
func outputAttributes(result any) (out []attribute.KeyValue) {
	switch result := result.(type) {
	case *dynamodb.QueryOutput:
		out = []attribute.KeyValue{attrCount.Int(int(result.Count)), attrScanned.Int(int(result.ScannedCount))}
	case *dynamodb.ScanOutput:
		out = []attribute.KeyValue{attrCount.Int(int(result.Count)), attrScanned.Int(int(result.ScannedCount))}
	}
	consumed, written := consumption(result)
	if len(consumed) == 0 {
		return out
	}
	if written {
		return append(out, attrWriteUnits.Float64(unitsOf(consumed)))
	}
	return append(out, attrReadUnits.Float64(unitsOf(consumed)))
}
