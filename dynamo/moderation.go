package dynamo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
)

// Attributes of a decision about a comment, an item beside the comment. Decisions are in no index,
// so none of these names may be that of an index key.
const (
	attrBy      = "by" // S, who decided; missing for the moderators' token
	attrFrom    = "from"
	attrTo      = "to"
	attrReason  = "reason"
	attrNote    = "note"
	attrDecided = "decided" // N, the version that the decision is about
)

// Decide changes a comment from before to after and writes the decision that led to it, both or
// neither. If a decision with this Position exists, it writes nothing. It returns a Conflict error
// if another change came first, or the comment was deleted.
func (s *Store) Decide(ctx context.Context, before, after comment.Comment, d comment.Decision) error {
	item, update := s.decisionItem(d), s.updateOf(before, after, "")
	err := s.change(ctx, before, after, func(ctx context.Context, _ bool) error { return s.writeBeside(ctx, item, update) })
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

// Audit returns the latest decisions about a comment, at most comment.MaxAudit, the latest first.
// It reads consistently, and also works for a comment that was deleted since.
func (s *Store) Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error) {
	input := call.PartitionInput(s.table, layout.CommentKey(id)[layout.AttrPK], layout.DecisionSKPrefix)
	input.ScanIndexForward, input.Limit = aws.Bool(false), aws.Int32(comment.MaxAudit)
	output, err := s.query(ctx, input, "decisions about %s", id)
	if err != nil {
		return nil, err
	}
	out := make([]comment.Decision, 0, len(output.Items))
	for _, it := range output.Items {
		if d, err := decodeDecision(it, id); s.proper(it, err) {
			out = append(out, d)
		}
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
		d.By = new(r.Text(attrBy))
	}
	if it[attrReason] != nil {
		d.Reason = new(comment.RejectionReason(r.Text(attrReason)))
	}
	switch err := r.Err(); {
	case err != nil:
		return d, err
	case !comment.IsTime(d.At()) || d.Version < 1 || d.Version > comment.MaxVersion || d.Reason != nil && !slices.Contains(comment.RejectionReasons(), *d.Reason):
		return d, errors.New("its time, version or reason is invalid")
	}
	if d.From, err = comment.ParseStatus(from); err != nil {
		return d, err
	}
	d.To, err = comment.ParseStatus(to)
	return d, err
}

// Report writes a report beside its comment, and changes the comment from before to after: its
// number of reports and its place in the queue. Both are written or neither. If the customer
// reported the comment before, it writes nothing. It returns a Conflict error if before is no
// longer what is stored.
func (s *Store) Report(ctx context.Context, before, after comment.Comment, r comment.Report) error {
	s.writing(ctx, before.ID)
	item := layout.ReportItem(before.ID, digestOfAll("report", r.By), r)
	update := s.updateOf(before, after, "")
	return call.Wrap(call.RetryWrite(ctx, func(ctx context.Context, _ bool) error { return s.writeBeside(ctx, item, update) }), "report of %s", before)
}

// Reports returns customers' reports about a comment, the latest first. Of more than
// comment.MaxAudit reports it returns those with the lowest sort keys.
func (s *Store) Reports(ctx context.Context, id comment.ID) ([]comment.Report, error) {
	input := call.PartitionInput(s.table, layout.CommentKey(id)[layout.AttrPK], layout.ReportSKPrefix)
	input.ConsistentRead, input.Limit = nil, aws.Int32(comment.MaxAudit)
	output, err := s.query(ctx, input, "reports of %s", id)
	if err != nil {
		return nil, err
	}
	var out []comment.Report
	for _, it := range output.Items {
		if _, report, err := layout.DecodeReport(it); s.proper(it, err) {
			out = append(out, report)
		}
	}
	slices.SortFunc(out, func(a, b comment.Report) int { return b.At.Compare(a.At) })
	return out, nil
}

// writeBeside writes an item together with an update of its comment. If the item exists, an earlier
// try or call wrote both. If it does not and the update is refused, another change came first, and
// writeBeside returns a Conflict error.
func (s *Store) writeBeside(ctx context.Context, item layout.Item, update types.TransactWriteItem) error {
	if err := s.transact(ctx, update, s.putNew(item)); !call.Refused(err) {
		return err
	}
	there, err := s.get(ctx, item, call.NoRetries)
	switch {
	case err != nil:
		return &comment.Error{Kind: comment.Unavailable, Message: "whether this was written could not be looked up; try again", Cause: err}
	case len(there) > 0:
		return nil
	}
	return comment.Errorf(comment.Conflict, "the comment was changed meanwhile: read it again, and decide anew")
}

// Queue returns a page of the comments that wait for a moderator, the one that waits longest first.
// It reads the places from an index, which follows the table within moments, and the comments
// consistently: comments that were decided meanwhile are left out. With a filter, a page may be
// short although more wait: one page looks at comment.MaxQueueScan places at most.
func (s *Store) Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error) {
	queue := queueRead{store: s, after: q.After, starts: make([]layout.Item, layout.QueueShards)}
	if !q.Filter.IsEmpty() { // few may pass: read as many places in few calls
		queue.least = comment.MaxQueueScan / layout.QueueShards
	}
	merged := merge.New(layout.QueueShards, func(a, b *queuePlace) int { return cmp.Compare(a.key, b.key) }, queue.read)
	page := comment.QueuePage{Last: q.After}
	for looked := 0; ; {
		full := len(page.Queued) == q.First || looked >= comment.MaxQueueScan
		places, err := merged.Take(ctx, max(1, q.First-len(page.Queued))) // if the page is full, one place more for HasNext
		switch {
		case err != nil:
			return page, call.Wrap(err, "queue of moderators")
		case full || len(places) == 0:
			page.HasNext = len(places) > 0
			return page, nil
		}
		looked, page.Last = looked+len(places), places[len(places)-1].Waiting
		queued, err := s.stillWaiting(ctx, slices.DeleteFunc(places, func(place queuePlace) bool { return !allows(q.Filter, place.Waiting) }))
		if err != nil {
			return page, err
		}
		page.Queued = append(page.Queued, queued...)
	}
}

// allows reports whether a place matches the filter.
func allows(f comment.QueueFilter, w comment.Waiting) bool {
	return (len(f.Reasons) == 0 || slices.ContainsFunc(f.Reasons, func(r comment.HoldReason) bool { return slices.Contains(w.Reasons, r) })) &&
		(len(f.Languages) == 0 || slices.Contains(f.Languages, w.Language)) &&
		(f.ProductID == nil || *f.ProductID == w.ProductID)
}

// stillWaiting returns the current comments of places. It leaves out those that were decided, or
// have another place by now. While a comment moves, the index may have it at two places.
func (s *Store) stillWaiting(ctx context.Context, places []queuePlace) ([]comment.Queued, error) {
	ids := make([]comment.ID, len(places))
	for i, place := range places {
		ids[i] = place.ID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids) // DynamoDB refuses a call with a key twice
	found, err := s.current(ctx, meterOf(ids), ids, false)
	if err != nil {
		return nil, err
	}
	var out []comment.Queued
	for _, place := range places {
		if c := found[place.ID]; c.Moderation != nil && len(c.Moderation.Held) > 0 && c.Moderation.Since.Equal(place.Since) {
			place.Reasons = c.Moderation.Held
			out = append(out, comment.Queued{Comment: c, Waiting: place.Waiting})
			delete(found, place.ID)
		}
	}
	return out, nil
}

// Pending returns how many comments wait. comment.MaxQueueScan means that many or more.
func (s *Store) Pending(ctx context.Context) (int, error) {
	counts := make([]int, layout.QueueShards)
	err := call.Parallel(ctx, layout.QueueShards, func(ctx context.Context, shard int) error {
		input := queueInput(shard, comment.Waiting{}, comment.MaxQueueScan)
		input.Select, input.ProjectionExpression = types.SelectCount, nil
		output, err := s.query(ctx, input, "%s %s", layout.Boards, layout.QueueKey(shard))
		if err == nil {
			counts[shard] = int(output.Count)
		}
		return err
	})
	total := 0
	for _, count := range counts {
		total += count
	}
	return min(total, comment.MaxQueueScan), err
}

// queuePlace is a place in the queue. Places are in the order of their sort keys: the order of
// their times, until the year 2286.
type queuePlace struct {
	comment.Waiting
	key string
}

// queueRead reads the queue, shard by shard.
type queueRead struct {
	store  *Store
	after  comment.Waiting
	starts []layout.Item // where the next read of each shard begins; nil for its beginning
	least  int           // the lowest limit of a call
}

// read reads the next places of the shards that ran dry. It is a merge.Fill.
func (q *queueRead) read(ctx context.Context, dry []int, missing int) ([]merge.Batch[queuePlace], error) {
	batches := make([]merge.Batch[queuePlace], len(dry))
	err := call.Parallel(ctx, len(dry), func(ctx context.Context, i int) error {
		shard := dry[i]
		input := queueInput(shard, q.after, max(missing+1, q.least))
		input.ExclusiveStartKey = q.starts[shard]
		output, err := q.store.query(ctx, input, "%s %s", layout.Boards, layout.QueueKey(shard))
		if err != nil {
			return err
		}
		q.starts[shard] = output.LastEvaluatedKey
		batches[i].Done = len(output.LastEvaluatedKey) == 0
		for _, it := range output.Items {
			sortKey := layout.NewReader(it).Text(layout.AttrPlace)
			place, err := layout.ParseWaiting(sortKey)
			if id, key := layout.CommentOfKey(it); err == nil && (key != nil || id != place.ID) {
				err = errors.New("its place in the queue is that of another item")
			}
			if q.store.proper(it, err) {
				batches[i].Items = append(batches[i].Items, queuePlace{place, sortKey})
			}
		}
		return nil
	})
	return batches, err
}

// queueInput returns the input that reads places of a shard, from its beginning or behind the place
// after.
func queueInput(shard int, after comment.Waiting, limit int) *dynamodb.QueryInput {
	input := &dynamodb.QueryInput{
		IndexName:                 aws.String(string(layout.Boards)),
		KeyConditionExpression:    aws.String(layout.AttrBoard + " = :board"),
		ExpressionAttributeValues: layout.Item{":board": layout.Text(layout.QueueKey(shard))},
		ProjectionExpression:      aws.String(strings.Join([]string{layout.AttrPK, layout.AttrSK, layout.AttrPlace}, ",")),
		Limit:                     aws.Int32(int32(limit)),
	}
	if after.ID != "" {
		*input.KeyConditionExpression += " AND " + layout.AttrPlace + " > :after"
		input.ExpressionAttributeValues[":after"] = layout.Text(layout.AfterPlace(after))
	}
	return input
}
