package outbox

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// Outbox is the log of events of a table. It is safe for concurrent use by goroutines and
// processes.
type Outbox struct {
	*store
	lanes [Lanes]*lane

	mu     sync.Mutex // guards the fields below
	looked time.Time
	wanted Wanted
}

// New makes the outbox of a table. It makes no call.
func New(client Client, table string) *Outbox {
	o := &Outbox{store: &store{client: client, table: table, now: time.Now}}
	for i := range o.lanes {
		o.lanes[i] = &lane{store: o.store, number: i, busy: make(chan struct{}, 1), recent: map[comment.ID]stream.Position{}}
	}
	return o
}

// Wanted has the names of those who want events, and until when; the zero time means without limit.
type Wanted map[string]time.Time

// Notice is how long it may take after Want until all processes append. Earlier events may be
// missing, later ones are in the log.
const Notice = 8 * time.Second

// lookEvery is how often a process checks who wants events.
const lookEvery = 5 * time.Second

// Want notes that events are wanted from now on: for the given time, or if that is 0, until Unwant.
// The name identifies a use, such as "hooks", and not a process: several processes may share it. A
// use that ends with its processes, such as subscriptions, calls Want again after every third of
// that time. Each call takes one or two write units and half a read unit.
//
// If nobody wanted events before, events are missing up to now. A reader that continues from an
// earlier position learns that from Batch.Missing.
func (o *Outbox) Want(ctx context.Context, name string, lasts time.Duration) error {
	return call.Retry(ctx, func() (bool, error) {
		before, err := o.readWanted(ctx)
		if err != nil {
			return false, err
		}
		if len(before) == 0 { // marked first: if the process ends after the item is put, the next one marks none
			if err := o.markMissing(ctx); err != nil {
				return false, err
			}
		}
		item := layout.OutboxKey(layout.OutboxWantPrefix + name)
		item[layout.AttrMark] = layout.Text(rand.Text())
		if lasts > 0 {
			item[layout.AttrTTL] = layout.Number(o.now().Add(lasts).Unix())
		}
		if err := call.Put(ctx, o.client, call.PutIf(o.table, item, "", nil)); err != nil {
			return false, call.Wrap(err, "PutItem of who wants events")
		}
		o.mu.Lock()
		o.looked = time.Time{}
		o.mu.Unlock()
		return false, nil
	})
}

// Lost notes that the stream lost records, so that events are missing. Readers learn it from
// Batch.Missing. While nobody wants events, it only reads.
func (o *Outbox) Lost(ctx context.Context) error {
	wanted, err := o.Wanted(ctx)
	if err != nil || len(wanted) == 0 {
		return err
	}
	return o.markMissing(ctx)
}

func (o *Outbox) markMissing(ctx context.Context) error {
	for _, lane := range o.lanes {
		if err := lane.mark(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// Unwant ends a Want that had no time limit, unless another Want comes meanwhile. So a request that
// arrives late ends none since.
func (o *Outbox) Unwant(ctx context.Context, name string) error {
	key := layout.OutboxKey(layout.OutboxWantPrefix + name)
	there, err := call.Retried(ctx, func() (layout.Item, error) {
		return call.Item(ctx, o.client, o.table, key, "GetItem of who wants events")
	})
	if err != nil {
		return err
	}
	same, values := layout.AsRead(there, layout.AttrMark)
	return call.Retry(ctx, func() (bool, error) {
		_, err := call.Done(call.Delete(ctx, o.client, call.DeleteIf(o.table, key, same, values)))
		return false, call.Wrap(err, "DeleteItem of who wants events")
	})
}

// Wanted returns who wants events, as of lookEvery ago at most.
func (o *Outbox) Wanted(ctx context.Context) (Wanted, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.looked.IsZero() && task.Elapsed(o.looked, o.now()) < lookEvery { // an event that is wanted must not be missed
		return o.wanted, nil
	}
	began := o.now()
	wanted, err := o.readWanted(ctx)
	if err == nil {
		o.wanted, o.looked = wanted, began
	}
	return wanted, err
}

func (o *Outbox) readWanted(ctx context.Context) (Wanted, error) {
	input := call.PartitionInput(o.table, layout.OutboxKey("")[layout.AttrPK], layout.OutboxWantPrefix)
	input.ConsistentRead = nil // Notice has room for a replica that lags
	output, err := o.client.Query(ctx, input)
	if err != nil {
		return nil, call.Wrap(err, "Query of who wants events")
	}
	out := Wanted{}
	for _, it := range output.Items {
		r := layout.NewReader(it)
		var until time.Time
		if seconds := r.OptionalNumber(layout.AttrTTL); seconds != 0 {
			until = time.Unix(seconds, 0)
		}
		if until.IsZero() || o.now().Before(until) {
			out[strings.TrimPrefix(r.Text(layout.AttrSK), layout.OutboxWantPrefix)] = until
		}
	}
	return out, nil
}
