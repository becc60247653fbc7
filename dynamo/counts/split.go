package counts

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// addSplit adds how counts are split by traits to an item that has the counts. A product whose comments
// have no traits takes no byte for them.
func addSplit(to layout.Item, stats comment.Stats) {
	if encoded := runs.EncodeSplit(stats); encoded != nil {
		to[layout.AttrSplit] = layout.Binary(encoded)
	}
}

// errSplit contains nothing of the item.
var errSplit = errors.New("the counts by traits do not belong to the counts: rebuild")

// splitIn splits counts as their item says.
func splitIn(it layout.Item, stats comment.Stats) error {
	if it[layout.AttrSplit] == nil {
		return nil
	}
	stored, ok := it[layout.AttrSplit].(*types.AttributeValueMemberB)
	if !ok || runs.DecodeSplit(stored.Value, stats) != nil {
		return errSplit
	}
	return nil
}
