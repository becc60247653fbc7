package call

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"go.opentelemetry.io/otel/attribute"

	"github.com/talkback/talkback/internal/usage"
)

// Traced returns a copy of a client whose calls get spans, as children of the span of their
// context. Calls without such a span get none, nor do calls to a stream. All calls must be to one
// table.
func Traced(client *dynamodb.Client, table string) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Trace", traced(table).call), middleware.Before)
		})
	})
}

// traced is the middleware that makes spans for calls to a table.
type traced string

// otherError is the reason of an error without a code, such as that of a broken connection.
const otherError = "_OTHER"

// call makes the span of a call. It leaves out error messages, which may cite keys.
func (t traced) call(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	if !ofTable(ctx) {
		return next.HandleInitialize(ctx, in)
	}
	ctx, span := usage.BeginCall(ctx, middleware.GetOperationName(ctx))
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

// inputAttributes returns span attributes for the input of a call: the index and the number of
// items, but neither keys nor values.
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

// outputAttributes returns span attributes for the output of a call: items and units.
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
