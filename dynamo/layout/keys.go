package layout

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// StreamKey is the primary key of an item about the stream, or of settings.
func StreamKey(partition, sort string) Item {
	return Item{AttrPK: TextValue(partition), AttrSK: TextValue(sort)}
}

// ProductKey is the primary key of an item about a product.
func ProductKey(product, sortKey string) Item {
	return Item{
		AttrPK: &types.AttributeValueMemberS{Value: Partition{Index: All}.Key(product)},
		AttrSK: &types.AttributeValueMemberS{Value: sortKey},
	}
}

// ProductOfKey is the product of an item about a product, by its primary key.
func ProductOfKey(key Item) string {
	r := Reader{Item: key}
	return strings.TrimPrefix(r.Text(AttrPK), Partition{Index: All}.Key(""))
}
