package function

import (
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/stream"
)

// recordsOf returns the records of an event, in its order. They equal the records, with the same
// positions, that a reader of the stream itself would get. So both may work on one table.
func recordsOf(event events.DynamoDBEvent) ([]stream.Record, error) {
	records := make([]stream.Record, len(event.Records))
	for i, r := range event.Records {
		label, err := labelOf(r.EventSourceArn)
		if err != nil {
			return nil, err
		}
		if r.Change.SequenceNumber == "" {
			return nil, fmt.Errorf("record %d of %d has no sequence number", i+1, len(event.Records))
		}
		records[i] = stream.Record{
			Position: stream.PositionOf(label, r.Change.SequenceNumber),
			Sequence: r.Change.SequenceNumber,
			Created:  r.Change.ApproximateCreationDateTime.Time,
			Keys:     imageOf(r.Change.Keys),
			Old:      imageOf(r.Change.OldImage),
			New:      imageOf(r.Change.NewImage),
		}
	}
	return records, nil
}

// labelOf returns the label of a stream, which is the end of its ARN.
func labelOf(arn string) (string, error) {
	_, label, found := strings.Cut(arn, "/stream/")
	if !found || label == "" {
		return "", fmt.Errorf("%q is not the name of a table's stream: the function must be given the stream of the table", arn)
	}
	return label, nil
}

// imageOf converts an item to the SDK's type; nil if there is none.
func imageOf(attributes map[string]events.DynamoDBAttributeValue) map[string]types.AttributeValue {
	if attributes == nil {
		return nil
	}
	image := make(map[string]types.AttributeValue, len(attributes))
	for name, value := range attributes {
		image[name] = valueOf(value)
	}
	return image
}

func valueOf(value events.DynamoDBAttributeValue) types.AttributeValue {
	switch value.DataType() {
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: value.String()}
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: value.Number()}
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: value.Binary()}
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: value.Boolean()}
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: value.StringSet()}
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: value.NumberSet()}
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: value.BinarySet()}
	case events.DataTypeMap:
		return &types.AttributeValueMemberM{Value: imageOf(value.Map())}
	case events.DataTypeList:
		list := make([]types.AttributeValue, len(value.List()))
		for i, element := range value.List() {
			list[i] = valueOf(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}
