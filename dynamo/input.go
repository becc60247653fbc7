package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// queryInput returns the SDK's input for one read of a plan. A limit of 0 is no limit. start is the
// LastEvaluatedKey of the previous call, nil for the first. Clients never see it: a cursor is a
// position.
func queryInput(table string, p *planner.Plan, r *planner.Read, limit int, start layout.Item) *dynamodb.QueryInput {
	key, values := r.Index.PartitionAttr()+" = :p", layout.Item{":p": layout.Text(r.Partition.Key(p.Product))}
	low, high := p.LowKey(), p.HighKey()
	if low != nil {
		values[":low"] = layout.Text(*low)
	}
	if high != nil {
		values[":high"] = layout.Text(*high)
	}
	switch {
	case low != nil && high != nil:
		key += " AND " + r.Index.SortAttr() + " BETWEEN :low AND :high"
	case low != nil:
		key += " AND " + r.Index.SortAttr() + " >= :low"
	case high != nil:
		key += " AND " + r.Index.SortAttr() + " <= :high"
	}
	input := &dynamodb.QueryInput{
		TableName: aws.String(table), IndexName: aws.String(string(r.Index)),
		KeyConditionExpression:    aws.String(key),
		ExpressionAttributeValues: values, ExclusiveStartKey: start,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if filter := layout.FilterExpression(r.Conditions, values); filter != "" {
		input.FilterExpression = aws.String(filter)
	}
	if limit > 0 {
		input.Limit = aws.Int32(int32(limit))
	}
	if p.Purpose == comment.ReadCount {
		input.Select = types.SelectCount
		return input
	}
	input.ProjectionExpression, input.ScanIndexForward = aws.String(projectionOf(p)), aws.Bool(!p.Descending)
	return input
}

// projectionOf returns the attributes that a plan reads.
func projectionOf(p *planner.Plan) string {
	if p.ByVotes {
		return layout.ListProjection(!p.WithoutText) + "," + layout.ByHelpful.SortAttr()
	}
	return layout.ListProjection(!p.WithoutText)
}
