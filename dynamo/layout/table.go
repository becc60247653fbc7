package layout

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DefaultTable is the default name of the table.
const DefaultTable = "comments"

// Definition returns the definition of the table: keys, indexes, stream and on-demand billing. The
// files in infra/ that describe the table are generated from it, by `make generate`.
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
	// DynamoDB cannot change a projection, so it includes attributes of later releases. All indexes
	// together may project 100 attributes:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
	projected := append(ListAttrs(), attrReplies, attrShop, attrSpare)
	comments := &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: projected}
	keys := &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	defined := map[string]bool{}
	add := func(index Index, partitionKey, sortKey string, projection *types.Projection) {
		for _, attr := range []string{partitionKey, sortKey} {
			if !defined[attr] && attr != AttrPK {
				defined[attr] = true
				input.AttributeDefinitions = append(input.AttributeDefinitions, stringAttr(attr))
			}
		}
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(string(index)), KeySchema: keySchema(partitionKey, sortKey), Projection: projection,
		})
	}
	for _, index := range ListIndexes() {
		add(index, index.PartitionAttr(), AttrPK, comments)
	}
	add(Boards, AttrBoard, AttrPlace, keys)
	add(ByAuthor, AttrWriter, AttrPK, keys)
	add(ByHelpful, AttrAll, attrHelpful, comments)
	add(ByMedia, AttrAll, attrMedia, comments)
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
