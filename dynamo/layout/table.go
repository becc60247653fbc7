package layout

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DefaultTable is the default name of the table.
const DefaultTable = "comments"

// Definition returns the definition of the table: keys, indexes, stream and on-demand billing.
func Definition(table string) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{stringAttr(AttrPK), stringAttr(AttrSK)},
		KeySchema:            keySchema(AttrPK, AttrSK),
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}
	for _, index := range ListIndexes() {
		input.AttributeDefinitions = append(input.AttributeDefinitions, stringAttr(index.PartitionAttr()))
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(string(index)),
			KeySchema: keySchema(index.PartitionAttr(), AttrPK),
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: append(ListAttrs(), AttrSpare),
			},
		})
	}
	input.AttributeDefinitions = append(input.AttributeDefinitions, stringAttr(AttrBoard), stringAttr(AttrPlace))
	input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
		IndexName:  aws.String(string(LeadersIndex)),
		KeySchema:  keySchema(AttrBoard, AttrPlace),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	})
	return input
}

// TimeToLive returns the setting that makes DynamoDB delete expired items. CreateTable cannot carry
// it.
func TimeToLive(table string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(AttrTTL),
			Enabled:       aws.Bool(true),
		},
	}
}

func stringAttr(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
}

func keySchema(partitionKey, sortKey string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(partitionKey), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sortKey), KeyType: types.KeyTypeRange},
	}
}

// entryAttrs are the attributes of entries, by list index.
var entryAttrs = func() map[Index][]string {
	out := map[Index][]string{}
	for _, index := range ListIndexes() {
		out[index] = slices.Concat([]string{AttrPK, AttrSK, index.PartitionAttr(), AttrSpare}, ListAttrs())
	}
	return out
}()

// EntrySize returns the size of an item's entry in a list index, in bytes.
func EntrySize(it Item, index Index) int { return SizeOf(it, entryAttrs[index]) }
