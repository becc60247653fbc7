package markers

import (
	"crypto/rand"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// headerWrites replaces a header on condition that its version is the one read. It drops empty
// cells, and with the last of them the header.
func headerWrites(p generationProduct, before, after header) []types.TransactWriteItem {
	maps.DeleteFunc(after.cells, func(_ string, s state) bool { return s.count == 0 && s.chunks == 0 })
	condition, values := layout.IfAbsent, layout.Item(nil)
	if before.version != "" {
		condition, values = attrVersion+" = :version", layout.Item{":version": layout.Text(before.version)}
	}
	var out []types.TransactWriteItem
	switch {
	case len(after.cells) > 0:
		after.version = rand.Text()
		out = append(out, call.PutIf(p.table, encodeHeader(p, after), condition, values))
	case before.version != "":
		gone := p.remove(p.headerKey())
		gone.Delete.ConditionExpression, gone.Delete.ExpressionAttributeValues = aws.String(condition), values
		out = append(out, gone)
	default:
		write := types.ConditionCheck{TableName: aws.String(p.table), Key: p.headerKey(), ConditionExpression: aws.String(condition)}
		out = append(out, types.TransactWriteItem{ConditionCheck: &write})
	}
	switch {
	case before.version == "" && len(after.cells) > 0:
		out = append(out, p.put(p.productKey()))
	case before.version != "" && len(after.cells) == 0:
		out = append(out, p.remove(p.productKey()))
	}
	return out
}

func (p generationProduct) put(item layout.Item) types.TransactWriteItem {
	return call.PutIf(p.table, item, "", nil)
}

func (p generationProduct) remove(key layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(p.table), Key: key}}
}
