package dynamo

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// queryInput is the SDK's input for one read of a plan. A limit of 0 is no limit. start is the
// LastEvaluatedKey of the call before it, nil for the first; it never leaves the request, because a
// cursor is a position and not such a key.
func queryInput(table string, p planner.Plan, r planner.Read, limit int, start layout.Item) *dynamodb.QueryInput {
	values := layout.Item{":p": layout.Text(r.Partition.Key(p.Product))}
	input := &dynamodb.QueryInput{
		TableName:                 aws.String(table),
		IndexName:                 aws.String(string(r.Partition.Index)),
		KeyConditionExpression:    aws.String(r.Partition.Index.PartitionAttr() + " = :p" + rangeCondition(p, values)),
		FilterExpression:          residualExpression(r, values),
		ExpressionAttributeValues: values,
		ExclusiveStartKey:         start,
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
	if limit > 0 {
		input.Limit = aws.Int32(int32(limit))
	}
	if p.Purpose == comment.ReadCount {
		input.Select = types.SelectCount
		return input
	}
	input.ProjectionExpression = aws.String(projectionOf(p))
	input.ScanIndexForward = aws.Bool(!p.Descending)
	return input
}

// projectionOf names the attributes that a plan reads.
func projectionOf(p planner.Plan) string {
	return layout.ListProjection(!p.WithoutText)
}

// rangeCondition bounds the sort key. It adds its values to values.
func rangeCondition(p planner.Plan, values layout.Item) string {
	low, high := p.LowKey(), p.HighKey()
	if low != nil {
		values[":low"] = layout.Text(*low)
	}
	if high != nil {
		values[":high"] = layout.Text(*high)
	}
	switch {
	case low != nil && high != nil:
		return " AND " + layout.AttrPK + " BETWEEN :low AND :high"
	case low != nil:
		return " AND " + layout.AttrPK + " >= :low"
	case high != nil:
		return " AND " + layout.AttrPK + " <= :high"
	}
	return ""
}

// residualExpression is the residual filter of a read, nil for none. It adds its values to values.
func residualExpression(r planner.Read, values layout.Item) *string {
	var conditions []string
	if r.Languages != nil {
		names := make([]string, len(r.Languages))
		for i, language := range r.Languages {
			names[i] = ":l" + strconv.Itoa(i)
			values[names[i]] = layout.Text(string(language))
		}
		conditions = append(conditions, layout.AttrLanguage+" IN ("+strings.Join(names, ",")+")")
	}
	if r.Ratings != nil {
		names := make([]string, len(r.Ratings))
		for i, rating := range r.Ratings {
			names[i] = ":r" + strconv.Itoa(i)
			values[names[i]] = layout.Number(int64(rating))
		}
		conditions = append(conditions, layout.AttrRating+" IN ("+strings.Join(names, ",")+")")
	}
	if len(conditions) == 0 {
		return nil
	}
	return aws.String(strings.Join(conditions, " AND "))
}
