package markers

import (
	"crypto/rand"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
)

// headerWrites replaces a header, on condition that it is still the one that was read. Cells of
// which nothing is left go, and with the last of them the header.
func headerWrites(p generationProduct, before, after header) []types.TransactWriteItem {
	maps.DeleteFunc(after.cells, func(_ string, s state) bool { return s.count == 0 && s.chunks == 0 })
	condition, values := "attribute_not_exists("+layout.AttrPK+")", layout.Item(nil)
	if before.version != "" {
		condition, values = attrVersion+" = :version", layout.Item{":version": layout.Text(before.version)}
	}
	var out []types.TransactWriteItem
	switch {
	case len(after.cells) > 0:
		after.version = rand.Text()
		write := types.Put{Item: encodeHeader(p, after), ConditionExpression: aws.String(condition), ExpressionAttributeValues: values}
		out = append(out, types.TransactWriteItem{Put: &write})
	case before.version != "":
		write := types.Delete{Key: p.headerKey(), ConditionExpression: aws.String(condition), ExpressionAttributeValues: values}
		out = append(out, types.TransactWriteItem{Delete: &write})
	default:
		write := types.ConditionCheck{Key: p.headerKey(), ConditionExpression: aws.String(condition)}
		out = append(out, types.TransactWriteItem{ConditionCheck: &write})
	}
	switch {
	case before.version == "" && len(after.cells) > 0:
		out = append(out, put(p.productKey()))
	case before.version != "" && len(after.cells) == 0:
		out = append(out, remove(p.productKey()))
	}
	return out
}

func put(item layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{Item: item}}
}

func remove(key layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{Key: key}}
}

// in names the table in the parts of a transaction.
func (s *Store) in(writes []types.TransactWriteItem) []types.TransactWriteItem {
	for _, w := range writes {
		switch {
		case w.Put != nil:
			w.Put.TableName = aws.String(s.table)
		case w.Delete != nil:
			w.Delete.TableName = aws.String(s.table)
		case w.ConditionCheck != nil:
			w.ConditionCheck.TableName = aws.String(s.table)
		}
	}
	return writes
}
