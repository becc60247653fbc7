package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// input is the SDK's input of a Query, and what its pointers point to: one allocation for all.
type input struct {
	dynamodb.QueryInput

	table, index, condition, filter, attributes string

	limit   int32
	forward bool
}

// queryInput is the SDK's input for one read of a plan. A limit of 0 is no limit. start is the
// LastEvaluatedKey of the call before it, nil for the first; it never leaves the request, because a
// cursor is a position and not such a key.
func queryInput(table string, p *planner.Plan, r *planner.Read, limit int, start layout.Item) *dynamodb.QueryInput {
	values := layout.Item{":p": layout.Text(r.Partition.Key(p.Product))}
	in := &input{
		table: table, index: string(r.Index),
		condition: r.Index.PartitionAttr() + " = :p" + rangeCondition(p, r.Index.SortAttr(), values), filter: layout.FilterExpression(r.Conditions, values),
	}
	in.TableName, in.IndexName, in.KeyConditionExpression = &in.table, &in.index, &in.condition
	in.ExpressionAttributeValues, in.ExclusiveStartKey = values, start
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	if in.filter != "" {
		in.FilterExpression = &in.filter
	}
	if limit > 0 {
		in.limit = int32(limit)
		in.Limit = &in.limit
	}
	if p.Purpose == comment.ReadCount {
		in.Select = types.SelectCount
		return &in.QueryInput
	}
	in.attributes, in.forward = projectionOf(p), !p.Descending
	in.ProjectionExpression, in.ScanIndexForward = &in.attributes, &in.forward
	return &in.QueryInput
}

// projectionOf names the attributes that a plan reads.
func projectionOf(p *planner.Plan) string {
	if p.ByVotes {
		return layout.ListProjection(!p.WithoutText) + "," + layout.ByHelpful.SortAttr()
	}
	return layout.ListProjection(!p.WithoutText)
}

// rangeCondition bounds the sort key. It adds its values to values.
func rangeCondition(p *planner.Plan, sortAttr string, values layout.Item) string {
	low, high := p.LowKey(), p.HighKey()
	if low != nil {
		values[":low"] = layout.Text(*low)
	}
	if high != nil {
		values[":high"] = layout.Text(*high)
	}
	switch {
	case low != nil && high != nil:
		return " AND " + sortAttr + " BETWEEN :low AND :high"
	case low != nil:
		return " AND " + sortAttr + " >= :low"
	case high != nil:
		return " AND " + sortAttr + " <= :high"
	}
	return ""
}
