package dynamotest

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// IndexAttributes returns, sorted, the attributes of an item that only indexes use: index keys that
// are not keys of the table, and the last attribute of each projection, which is the spare one.
func IndexAttributes(definition *dynamodb.CreateTableInput, item map[string]types.AttributeValue) []string {
	var names []string
	for _, index := range definition.GlobalSecondaryIndexes {
		for _, key := range index.KeySchema {
			names = append(names, *key.AttributeName)
		}
		if kept := index.Projection.NonKeyAttributes; len(kept) > 0 {
			names = append(names, kept[len(kept)-1])
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		own := slices.ContainsFunc(definition.KeySchema, func(key types.KeySchemaElement) bool { return *key.AttributeName == name })
		return own || item[name] == nil
	})
}
