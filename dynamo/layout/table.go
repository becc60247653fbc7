package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/talkback/talkback/comment"
)

// DefaultTable is the name of the table unless another is given.
const DefaultTable = "comments"

// Index is the name of a global secondary index.
type Index string

// The list indexes. Each holds every comment once, parted by product and what its name says, and sorted by position.
const (
	All             Index = "all"
	ByLang          Index = "byLang"
	ByRating        Index = "byRating"
	ByLangAndRating Index = "byLangAndRating"
)

// LeadersIndex is the index of the leaderboards. No comment is in it: only items about products have its keys.
const LeadersIndex Index = "leaders"

// Attributes of the keys. The list indexes sort by the table's own PK, whose end is the comment's position: so an entry of
// an index, which holds the table's keys anyway, needs no sort key of its own. Partition keys of lists are one capital
// letter, since every byte of an entry is paid for at each read. An item is in an index because it has the index's key, so
// no other item may have an attribute of these names.
const (
	AttrPK              = "PK"
	AttrSK              = "SK"
	AttrAll             = "A"
	attrByLang          = "L"
	attrByRating        = "R"
	attrByLangAndRating = "B" // both
	AttrBoard           = "board"
	AttrPlace           = "place"
	AttrTTL             = "expires"

	CommentSK       = "C"
	CommentPKPrefix = "C#"
	ProductPKPrefix = "P#"
)

// Indexes lists the list indexes, the most narrow first.
var Indexes = []struct {
	Name         Index
	PartitionKey string
}{
	{ByLangAndRating, attrByLangAndRating},
	{ByLang, attrByLang},
	{ByRating, attrByRating},
	{All, AttrAll},
}

// PartitionAttr is the attribute that holds the partition key of a list index.
func (i Index) PartitionAttr() string {
	for _, index := range Indexes {
		if index.Name == i {
			return index.PartitionKey
		}
	}
	panic("dynamo: no list index is named " + string(i))
}

// SplitsByLanguage tells whether each partition of the index holds one language.
func (i Index) SplitsByLanguage() bool { return i == ByLang || i == ByLangAndRating }

// SplitsByRating tells whether each partition of the index holds one rating.
func (i Index) SplitsByRating() bool { return i == ByRating || i == ByLangAndRating }

// Partition is one partition of an index, of any product.
type Partition struct {
	// Index is the index that it is of.
	Index Index
	// Language is the language it holds, empty when the index does not split by language.
	Language comment.Language
	// Rating is the rating it holds, 0 when the index does not split by rating.
	Rating int
}

// Key is the partition key of p for a product. A language holds no slash, so that every key names one partition.
func (p Partition) Key(product string) string {
	key := ProductPKPrefix + product
	if p.Index.SplitsByLanguage() {
		key += "/" + string(p.Language)
	}
	if p.Index.SplitsByRating() {
		key += "/" + strconv.Itoa(p.Rating)
	}
	return key
}

// PartitionOf is the partition of an index that a comment stands in.
func PartitionOf(index Index, c comment.Comment) Partition {
	p := Partition{Index: index}
	if index.SplitsByLanguage() {
		p.Language = c.Language
	}
	if index.SplitsByRating() {
		p.Rating = c.Rating
	}
	return p
}

// CommentKey is the primary key of a comment.
func CommentKey(id comment.ID) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		AttrPK: Text(CommentPKPrefix + strings.TrimPrefix(string(id), comment.IDPrefix)),
		AttrSK: Text(CommentSK),
	}
}

// SortKeyOf is the sort key of a position in every list.
func SortKeyOf(p comment.Position) string { return CommentPKPrefix + p.String() }

// PositionOfKey is the position of a comment by the partition key of its item, which is the sort key of every list.
func PositionOfKey(pk string) (comment.Position, error) {
	return comment.ParsePosition(strings.TrimPrefix(pk, CommentPKPrefix))
}

// Definition is the table as it has to be: keys, indexes, stream, billing by request.
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
	for _, index := range Indexes {
		input.AttributeDefinitions = append(input.AttributeDefinitions, stringAttr(index.PartitionKey))
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(string(index.Name)),
			KeySchema: keySchema(index.PartitionKey, AttrPK),
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: append(slices.Clone(ListAttrs), AttrSpare),
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

// TimeToLive is the setting by which the table drops what has expired. CreateTable cannot carry it.
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
