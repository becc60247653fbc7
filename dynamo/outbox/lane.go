package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/stream"
)

// How appending knows what a lane already has.
//
// An item is put if its number, the last item's plus one, is free. So a process that puts an
// item has seen all before it: if another process put one, the number is taken. A process
// remembers the last change of each comment in the lane. A change that is not later is in the
// log already: from an earlier try whose answer was lost, or from the process that read the
// shard before.

const (
	// lookBack is how many items a process reads before it first appends to a lane.
	lookBack = 100
	// rememberedComments is the size of each of the two maps with the last changes of comments.
	rememberedComments = 5000
)

// lane appends to one lane.
type lane struct {
	store  *store
	number int
	busy   chan struct{} // has a value while the lane is in use; guards the fields below

	end           uint64    // number of the last item; 0 if unknown
	expires       time.Time // when that item expires
	recent, older map[comment.ID]stream.Position
}

// append appends the entries that are not in the lane yet, in their order.
func (l *lane) append(ctx context.Context, entries []entry) error {
	return l.use(ctx, func() error {
		for rest := l.news(entries); len(rest) > 0; rest = l.news(rest) {
			item := itemOf(l.end+1, rest, l.store.now())
			if err := l.put(ctx, item); err != nil {
				return err
			}
			l.note(rest[:len(item.Entries)])
		}
		return nil
	})
}

// mark appends an item without events.
func (l *lane) mark(ctx context.Context, missing bool) error {
	return l.use(ctx, func() error {
		item := itemOf(l.end+1, nil, l.store.now())
		item.Missing = missing
		return l.put(ctx, item)
	})
}

// use calls do with exclusive use of the lane in this process, and with its end known, until do
// succeeds. It calls do again at once if another process came first.
func (l *lane) use(ctx context.Context, do func() error) error {
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		return call.Wrap(ctx.Err(), "wait for lane %d of the outbox", l.number)
	}
	defer func() { <-l.busy }()
	return call.Retry(ctx, func() (bool, error) {
		for {
			if l.end == 0 || l.expires.Sub(l.store.now()) < Keep/2 { // once the last item is gone, another process begins anew
				items, err := l.store.query(ctx, l.number, query{from: 0, limit: lookBack, backwards: true, consistent: true})
				if err == nil && len(items) == 0 {
					l.end, err = l.store.start(ctx, l.number)
				}
				if err != nil {
					return false, err
				}
				for _, item := range slices.Backward(items) {
					l.learn(item)
				}
			}
			if err := do(); !errors.Is(err, errTaken) {
				return false, err
			}
			// Another process appended next: lookBack items of it are read at most.
			items, err := l.store.query(ctx, l.number, query{from: l.end + 1, limit: lookBack, consistent: true})
			if err != nil {
				return false, err
			}
			for _, item := range items {
				l.learn(item)
			}
		}
	})
}

// errTaken means a number is taken: by another process, or by an earlier try whose answer was lost.
var errTaken = errors.New("the number is taken")

func (l *lane) put(ctx context.Context, item layout.Outbox) error {
	err := call.Put(ctx, l.store.client, call.PutIf(l.store.table, layout.OutboxItem(l.number, item), layout.IfAbsent, nil))
	if call.Refused(err) {
		return errTaken
	}
	if err == nil {
		l.end, l.expires = item.Number, item.Expires
	}
	return call.Wrap(err, "PutItem of lane %d of the outbox", l.number)
}

func (l *lane) learn(item layout.Outbox) {
	l.note(entriesIn(item))
	l.end, l.expires = item.Number, item.Expires
}

// news returns the entries that are not in the lane yet, as far as this process remembers.
func (l *lane) news(entries []entry) (out []entry) {
	for _, e := range entries {
		if e.position > max(l.recent[e.comment], l.older[e.comment]) {
			out = append(out, e)
		}
	}
	return out
}

func (l *lane) note(entries []entry) {
	for _, e := range entries {
		if l.recent[e.comment] = max(e.position, l.recent[e.comment], l.older[e.comment]); len(l.recent) >= rememberedComments {
			l.recent, l.older = map[comment.ID]stream.Position{}, l.recent
		}
	}
}

// keepAlive appends an item without events if the last item of a lane is old. So the lane never
// becomes empty, and a gap always means that events have expired. If it became empty while nobody
// read, a reader after a position learns by the item that events may have expired.
func (l *lane) keepAlive(ctx context.Context, after uint64) error {
	items, err := l.store.query(ctx, l.number, query{limit: 1, backwards: true})
	if err != nil || len(items) == 0 && after == 0 || len(items) > 0 && items[0].Expires.Sub(l.store.now()) > Keep/2 {
		return err
	}
	return l.mark(ctx, false)
}

// Client is the part of the SDK's client that an Outbox needs.
type Client interface {
	call.Querier
	call.ItemGetter
	call.Putter
	call.Deleter
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
			item.Improper = new(layout.NewImproper(it, errEntry.Error()))
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
		condition, values := layout.AsRead(it, layout.AttrOutboxStart)
		if _, err := call.Done(call.Put(ctx, s.client, call.PutIf(s.table, item, condition, values))); err != nil {
			return 0, call.Wrap(err, "PutItem of the start of lane %d of the outbox", lane)
		}
	}
}
