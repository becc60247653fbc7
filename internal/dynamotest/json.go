package dynamotest

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// JSON returns an item in the form that answers and records of the stream have, for encoding/json.
// It supports the types that the table uses, and panics for others.
func JSON(item map[string]types.AttributeValue) map[string]any {
	out := map[string]any{}
	for name, value := range item {
		out[name] = valueJSON(value)
	}
	return out
}

func valueJSON(value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value} // base64, as JSON writes bytes
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": JSON(v.Value)}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, element := range v.Value {
			list = append(list, valueJSON(element))
		}
		return map[string]any{"L": list}
	}
	panic(fmt.Sprintf("dynamotest: the table holds no %T", value))
}
