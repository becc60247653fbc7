package outbox

import (
	"context"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// Position is how far a reader has read the log: in each lane, the number of the last event, or
// Batch.Last. 0 is before all events that are kept.
type Position [Lanes]uint64

// String returns the position as four numbers, separated by full stops.
func (p Position) String() string {
	parts := make([]string, Lanes)
	for i, n := range p {
		parts[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(parts, ".")
}

// ParsePosition parses the result of String. Its error is a BadInput error.
func ParsePosition(text string) (p Position, err error) {
	parts := strings.SplitN(text, ".", Lanes+1)
	for i := range p {
		if len(parts) == Lanes {
			p[i], err = strconv.ParseUint(parts[i], 10, 63)
		}
	}
	if err != nil || p.String() != text {
		return Position{}, comment.Errorf(comment.BadInput, "this is no position in the events: give one as it was received, or none to begin with what happens now")
	}
	return p, nil
}

// ErrGone means that events after a position have expired.
var ErrGone = comment.Errorf(comment.BadInput, "the events after this position are not kept any more: begin with what happens now, and read again what you show")

// errAhead means that a position is behind the end of a lane.
var errAhead = comment.Errorf(comment.BadInput, "this position is later than all events: give one as it was received from this table, or none to begin with what happens now")

// Batch is a part of a lane.
type Batch struct {
	// Events are in order.
	Events []Event
	// Last is the position after the batch.
	Last uint64
	// More is whether the batch ended at the limit.
	More bool
	// Missing is whether events may be missing before one of the events or before Last: because
	// nobody wanted events for a while, or because they are unreadable.
	Missing bool
	// Improper has the items whose events cannot be read.
	Improper []layout.Improper
}

// Read reads a lane after a position: at most limit items of up to ten changes each. It returns
// ErrGone if the next events have expired. Its reads are eventually consistent: half a read unit
// for each 4 KB, and at least one half.
func (o *Outbox) Read(ctx context.Context, lane int, after uint64, limit int) (Batch, error) {
	batch, whole, err := o.read(ctx, lane, after, limit, false)
	if err == nil && !whole {
		// Perhaps a replica lagged: read consistently before any event is called lost.
		if batch, whole, err = o.read(ctx, lane, after, limit, true); err == nil && !whole {
			err = ErrGone
		}
	}
	return batch, err
}

func (o *Outbox) read(ctx context.Context, lane int, after uint64, limit int, consistent bool) (b Batch, whole bool, err error) {
	next := after >> indexBits
	if after&wholeItem == wholeItem {
		next++
	}
	items, err := o.query(ctx, lane, query{from: next, limit: limit, consistent: consistent})
	if err != nil {
		return Batch{}, false, err
	}
	b = Batch{Last: after, More: len(items) == limit}
	if len(items) == 0 {
		return b, after == 0 || after&wholeItem == wholeItem, nil
	}
	for i, item := range items {
		switch {
		case item.Number == next:
		case after != 0: // the batch ends before items that are gone
			return b, i > 0, nil
		default: // the oldest items expire in no order
			b.Missing = b.Missing || i > 0
			next = item.Number
		}
		next++
		index := 0
		for _, e := range entriesIn(item) {
			for _, event := range e.events() {
				event.Number = numberOf(item.Number, index)
				if index++; after == 0 || event.Number > after {
					b.Events = append(b.Events, event)
				}
			}
		}
		b.Last = numberOf(item.Number, wholeItem)
		b.Missing = b.Missing || item.Missing || item.Improper != nil
		if item.Improper != nil {
			b.Improper = append(b.Improper, *item.Improper)
		}
	}
	return b, true, nil
}

// Ends returns the position after all events, read consistently: one read unit for each lane.
func (o *Outbox) Ends(ctx context.Context) (p Position, err error) {
	err = call.Parallel(ctx, Lanes, func(ctx context.Context, lane int) error {
		items, err := o.query(ctx, lane, query{limit: 1, backwards: true, consistent: true})
		if len(items) > 0 {
			p[lane] = numberOf(items[0].Number, wholeItem)
		}
		return err
	})
	return p, err
}

// Check returns an error if a position is behind the end of a lane. For a position whose next
// events have expired, Read returns the error.
func (o *Outbox) Check(ctx context.Context, p Position) error {
	ends, err := o.Ends(ctx)
	for i := range p {
		if err == nil && p[i] > ends[i] {
			err = errAhead
		}
	}
	return err
}

// LastSeen returns the last result of Wanted, without a call.
func (o *Outbox) LastSeen() Wanted {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wanted
}

const (
	tailEvery      = 2 * time.Second // between two reads of a lane by Tail
	keepAliveEvery = 24 * time.Hour  // between two calls of keepAlive for a lane
	perRead        = 100             // items of a lane that Tail reads at once
)

// Tail follows all lanes from a position until the context ends. It calls each with the batches
// that it reads, in order for one lane, concurrently for different lanes. A batch without events
// only moves the position. While nothing happens it reads each lane every tailEvery, which takes
// one read unit a second in all.
//
// The context of each ends with Tail. Tail returns the first error of each, or of a read that
// cannot succeed, such as ErrGone. It passes temporary errors to failed, unless that is nil, and
// retries the read.
func (o *Outbox) Tail(ctx context.Context, from Position, each func(ctx context.Context, lane int, batch Batch) error, failed func(error)) error {
	group, ctx := errgroup.WithContext(ctx)
	for lane := range Lanes {
		group.Go(task.Guarded(func() error { return o.tail(ctx, lane, from[lane], each, failed) }))
	}
	return group.Wait()
}

func (o *Outbox) tail(ctx context.Context, lane int, after uint64, each func(ctx context.Context, lane int, batch Batch) error, failed func(error)) error {
	for due := o.now(); ctx.Err() == nil; {
		batch, err := o.Read(ctx, lane, after, perRead)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !stream.Passes(err):
			return err
		case err != nil && failed != nil:
			failed(err)
		case err == nil && batch.Last != after:
			if err := each(ctx, lane, batch); err != nil {
				return err
			}
			after = batch.Last
		}
		if o.now().After(due) {
			if err := o.lanes[lane].keepAlive(ctx, after); err == nil {
				due = o.now().Add(keepAliveEvery)
			}
		}
		if !batch.More {
			_ = task.Wait(ctx, tailEvery) // the loop checks the context
		}
	}
	return nil
}
