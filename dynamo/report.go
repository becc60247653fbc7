package dynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// Report writes a report beside its comment, and makes after of before: the number of reports and the
// place in the queue. Both are written or neither. If the customer reported the comment before, it
// writes nothing. It returns a Conflict error if before is no longer what is stored.
func (s *Store) Report(ctx context.Context, before, after comment.Comment, r comment.Report) error {
	s.writing(ctx, before.ID)
	item := layout.ReportItem(before.ID, digestOfAll("report", r.By), r)
	writes := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: aws.String(s.table), Item: item,
			ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
		}},
		{Update: s.updateOf(before, after, "")},
	}}
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.client.TransactWriteItems(ctx, writes, call.NoRetries)
		var canceled *types.TransactionCanceledException
		if !errors.As(err, &canceled) || !call.HasReason(canceled, "ConditionalCheckFailed") {
			return err
		}
		return s.beside(ctx, item) // of an earlier try, or an earlier report
	}), "report of %s", before)
}

// Reports returns what customers reported about a comment, the latest first: at most comment.MaxAudit
// of the reports, whichever the table has first.
func (s *Store) Reports(ctx context.Context, id comment.ID) ([]comment.Report, error) {
	output, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String(s.table),
		KeyConditionExpression: aws.String(layout.AttrPK + " = :key AND begins_with(" + layout.AttrSK + ", :report)"),
		ExpressionAttributeValues: layout.Item{
			":key": layout.CommentKey(id)[layout.AttrPK], ":report": layout.Text(layout.ReportSKPrefix),
		},
		Limit: aws.Int32(comment.MaxAudit), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, call.Wrap(err, "Query reports of %s", id)
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	var out []comment.Report
	for _, it := range output.Items {
		_, report, err := layout.DecodeReport(it)
		if err != nil {
			s.malformed.Report(layout.NewImproper(it, err.Error()))
			continue
		}
		out = append(out, report)
	}
	slices.SortFunc(out, func(a, b comment.Report) int { return b.At.Compare(a.At) })
	return out, nil
}

// beside returns nil if an item that is written together with a change of a comment exists, and a
// Conflict error if it does not, so that the comment was changed meanwhile.
func (s *Store) beside(ctx context.Context, item layout.Item) error {
	there, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            layout.Item{layout.AttrPK: item[layout.AttrPK], layout.AttrSK: item[layout.AttrSK]},
		ConsistentRead: aws.Bool(true),
	}, call.NoRetries)
	switch {
	case err != nil:
		return &comment.Error{Kind: comment.Unavailable, Message: "whether this was written could not be looked up; try again", Cause: err}
	case len(there.Item) > 0:
		return nil
	}
	return comment.Errorf(comment.Conflict, "the comment was changed meanwhile: read it again, and decide anew")
}
