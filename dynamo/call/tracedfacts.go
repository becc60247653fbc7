package call

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.opentelemetry.io/otel/attribute"
)

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

// asked returns what the span of a call says of its input: the index, how many items. Keys and values
// stay out.
func asked(in any) []attribute.KeyValue {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		return limited(in.IndexName, in.Limit)
	case *dynamodb.ScanInput:
		return limited(in.IndexName, in.Limit)
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

func limited(index *string, limit *int32) (out []attribute.KeyValue) {
	if index != nil {
		out = append(out, attrIndex.String(*index))
	}
	if limit != nil {
		out = append(out, attrLimit.Int(int(*limit)))
	}
	return out
}

// answered returns what the span of a call says of its output: items and units.
func answered(out any) []attribute.KeyValue {
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		return []attribute.KeyValue{attrCount.Int(int(out.Count)), attrScanned.Int(int(out.ScannedCount)), attrReadUnits.Float64(UnitsOf(out.ConsumedCapacity))}
	case *dynamodb.ScanOutput:
		return []attribute.KeyValue{attrCount.Int(int(out.Count)), attrScanned.Int(int(out.ScannedCount)), attrReadUnits.Float64(UnitsOf(out.ConsumedCapacity))}
	case *dynamodb.BatchGetItemOutput:
		return consumed(attrReadUnits, out.ConsumedCapacity...)
	case *dynamodb.GetItemOutput:
		return consumedBy(attrReadUnits, out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		return consumedBy(attrWriteUnits, out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return consumedBy(attrWriteUnits, out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		return consumedBy(attrWriteUnits, out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		return consumed(attrWriteUnits, out.ConsumedCapacity...)
	}
	return nil
}

func consumedBy(units attribute.Key, by *types.ConsumedCapacity) []attribute.KeyValue {
	if by == nil {
		return nil
	}
	return consumed(units, *by)
}

func consumed(units attribute.Key, by ...types.ConsumedCapacity) []attribute.KeyValue {
	if len(by) == 0 {
		return nil
	}
	sum := 0.0
	for i := range by {
		sum += UnitsOf(&by[i])
	}
	return []attribute.KeyValue{units.Float64(sum)}
}
