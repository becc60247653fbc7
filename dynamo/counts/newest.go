package counts

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/newest"
)

// The statistics of a product also tell when its newest comments were written (package newest).
// Like the counts, these positions follow from the markers, and change in the same transaction: no
// marker that counts is above them. A writer that does not know them writes statistics without
// them, and they stay unknown until a rebuild, or until the product has no comments left.

// attrNewest is an attribute of the statistics.
const attrNewest = "w" // B, the positions of the newest comments; missing if they are not known

// writeUnitBytes is what one write unit writes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const writeUnitBytes = 1 << 10

// addNewest adds the positions of the newest comments to the item of statistics. Those of single
// cells are left out if they would take another write unit.
func addNewest(to layout.Item, bounds *newest.Bounds, stats comment.Stats) {
	room := writeUnitBytes - layout.SizeOf(to, slices.Collect(maps.Keys(to)))%writeUnitBytes
	if encoded := bounds.Encode(stats, room-len(attrNewest)); encoded != nil {
		to[attrNewest] = layout.Binary(encoded)
	}
}

// newestIn reads the positions of the newest comments from the item of statistics; nil if they are
// not known. Some that cannot be read are not known.
func newestIn(it layout.Item, stats comment.Stats) *newest.Bounds {
	stored, ok := it[attrNewest].(*types.AttributeValueMemberB)
	if !ok {
		return nil
	}
	bounds, err := newest.Decode(stored.Value, stats)
	if err != nil {
		return nil
	}
	return bounds
}
