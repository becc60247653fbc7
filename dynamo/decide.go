package dynamo

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// Items of the audit: a decision about a comment, beside it. They are in no index, so none of these
// names may be a key's.
const (
	attrBy      = "by" // S, who decided; missing for the moderators' token
	attrFrom    = "from"
	attrTo      = "to"
	attrReason  = "reason"
	attrNote    = "note"
	attrDecided = "decided" // N, the version that was decided about
)

// Decide makes after of before and writes the decision that led to it, both or neither. If a decision
// with this Position is there, it writes nothing. It returns a Conflict error if another change came
// first, or the comment was deleted.
func (s *Store) Decide(ctx context.Context, before, after comment.Comment, d comment.Decision) error {
	item := s.decisionItem(d)
	writes := []types.TransactWriteItem{{Update: s.updateOf(before, after, "")}, {Put: &types.Put{
		TableName: aws.String(s.table), Item: item,
		ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
	}}}
	err := s.change(ctx, before, after, func(ctx context.Context, _ bool) error {
		_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes}, call.NoRetries)
		var canceled *types.TransactionCanceledException
		if errors.As(err, &canceled) && call.HasReason(canceled, "ConditionalCheckFailed") {
			return s.beside(ctx, item) // of an earlier try
		}
		return err
	})
	return call.Wrap(err, "decision about %s", after)
}

func (s *Store) decisionItem(d comment.Decision) layout.Item {
	out := layout.CommentKey(d.CommentID)
	out[layout.AttrSK] = layout.Text(layout.DecisionSKPrefix + d.Position.String())
	out[attrFrom], out[attrTo] = layout.Text(d.From.String()), layout.Text(d.To.String())
	out[attrDecided] = layout.Number(int64(d.Version))
	if s.options.KeepAudit > 0 {
		out[layout.AttrTTL] = layout.Number(d.At().Add(s.options.KeepAudit).Unix())
	}
	if d.By != nil {
		out[attrBy] = layout.Text(*d.By)
	}
	if d.Reason != nil {
		out[attrReason] = layout.Text(string(*d.Reason))
	}
	if d.Note != "" {
		out[attrNote] = layout.Text(d.Note)
	}
	return out
}

// Audit returns the latest decisions about a comment, at most comment.MaxAudit, the latest first. It reads
// consistently, also of a comment that was deleted since.
func (s *Store) Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error) {
	output, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String(s.table),
		KeyConditionExpression: aws.String(layout.AttrPK + " = :key AND begins_with(" + layout.AttrSK + ", :decision)"),
		ExpressionAttributeValues: layout.Item{
			":key": layout.CommentKey(id)[layout.AttrPK], ":decision": layout.Text(layout.DecisionSKPrefix),
		},
		ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(comment.MaxAudit),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, call.Wrap(err, "Query decisions about %s", id)
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	out := make([]comment.Decision, 0, len(output.Items))
	for _, it := range output.Items {
		d, err := decodeDecision(it, id)
		if err != nil {
			s.malformed.Report(layout.NewImproper(it, err.Error()))
			continue
		}
		out = append(out, d)
	}
	return out, nil
}

func decodeDecision(it layout.Item, id comment.ID) (d comment.Decision, err error) {
	r := layout.NewReader(it)
	at, err := comment.ParsePosition(strings.TrimPrefix(r.Text(layout.AttrSK), layout.DecisionSKPrefix))
	if err != nil {
		return d, err
	}
	d = comment.Decision{CommentID: id, Position: at, Version: int(r.Number(attrDecided)), Note: r.OptionalText(attrNote)}
	from, to := r.Text(attrFrom), r.Text(attrTo)
	if it[attrBy] != nil {
		by := r.Text(attrBy)
		d.By = &by
	}
	if it[attrReason] != nil {
		reason := comment.RejectionReason(r.Text(attrReason))
		d.Reason = &reason
	}
	if err := r.Err(); err != nil {
		return d, err
	}
	if d.From, err = comment.ParseStatus(from); err != nil {
		return d, err
	}
	d.To, err = comment.ParseStatus(to)
	return d, err
}
