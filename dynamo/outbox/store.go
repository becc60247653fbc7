package outbox

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// Client is the part of the SDK's client that an Outbox needs.
type Client interface {
	call.Querier
	call.ItemGetter
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// store reads and writes the items of a table's outbox.
type store struct {
	client Client
	table  string
	now    func() time.Time
}

// query is a read of items of a lane.
type query struct {
	from       uint64 // the first number
	limit      int
	backwards  bool // reads the last items, the last one first
	consistent bool
}

func (s *store) query(ctx context.Context, lane int, q query) (out []layout.Outbox, err error) {
	input := &dynamodb.QueryInput{
		TableName: aws.String(s.table), KeyConditionExpression: aws.String(layout.AttrPK + " = :lane AND " + layout.AttrSK + " >= :from"),
		ExpressionAttributeValues: layout.Item{":lane": layout.OutboxLanePK(lane), ":from": layout.Text(layout.OutboxSK(q.from))},
		ScanIndexForward:          aws.Bool(!q.backwards), ConsistentRead: aws.Bool(q.consistent), Limit: aws.Int32(int32(q.limit)),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	output, err := s.client.Query(ctx, input)
	if err != nil {
		return nil, call.Wrap(err, "Query of lane %d of the outbox", lane)
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity)) // of a client that resumes
	for _, it := range output.Items {
		item, ok := layout.DecodeOutbox(it)
		if !ok {
			continue
		}
		if len(entriesIn(item)) < len(item.Entries) {
			improper := layout.NewImproper(it, errEntry.Error())
			item.Improper = &improper
		}
		out = append(out, item)
	}
	return out, nil
}

// start returns the number before that of the first item of an empty lane. It is a time, so it is
// above all numbers that were ever used. It is stored, so that all processes agree.
func (s *store) start(ctx context.Context, lane int) (uint64, error) {
	key := layout.OutboxKey(layout.OutboxStartPrefix + strconv.Itoa(lane))
	for {
		it, err := call.Item(ctx, s.client, s.table, key, "GetItem of the start of lane %d of the outbox", lane)
		if err != nil {
			return 0, err
		}
		was := layout.NewReader(it).OptionalNumber(layout.AttrOutboxStart) // 0 if it was edited by hand and is no number
		if s.now().Sub(time.UnixMilli(was)) < Keep/2 {                     // nothing that was appended since has expired
			return uint64(was), nil
		}
		item := maps.Clone(key)
		item[layout.AttrOutboxStart] = layout.Time(s.now())
		values := layout.Item{}
		condition := layout.SameAttrs(it, values, layout.AttrOutboxStart)
		_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(s.table), Item: item, ConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.OrNone(values),
		}, call.NoRetries)
		if err != nil && !call.Refused(err) {
			return 0, call.Wrap(err, "PutItem of the start of lane %d of the outbox", lane)
		}
	}
}
