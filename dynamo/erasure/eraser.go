// Package erasure erases all data about an author in a table, and keeps imports from adding it
// again. An [Eraser] does the work, with an item for each author, so that another process can take
// it over. A mark of each erased author stays: by [Marks], imports leave out their comments.
package erasure

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
)

// pollEvery is how often a process looks for erasures on which no process works.
const pollEvery = 30 * time.Second

// Client is the part of the SDK's client that an Eraser works with.
type Client interface {
	call.Querier
	dynamodb.ScanAPIClient
	leases.WorkClient
}

// Eraser erases authors. It is safe for concurrent use.
type Eraser struct {
	client      Client
	table       string
	who, engine string
	pace        pace
	wake        chan struct{} // holds a signal after Start was called in this process
}

// lastWords is how long an erasure that ends early may take to save its progress.
const lastWords = 3 * time.Second

// pace has the waits of an erasure.
type pace struct{ heartbeat, settle, poll, lastWords time.Duration }

// New makes an Eraser for a table, whose keys and indexes must be those of layout.Definition. who
// and engine are fields of leases.WorkOptions.
func New(client Client, table, who, engine string) *Eraser {
	return &Eraser{
		client: call.For(client, call.ForMaintenance), table: table, who: who, engine: engine,
		pace: pace{leases.WorkHeartbeat, settle, pollEvery, lastWords}, wake: make(chan struct{}, 1),
	}
}

// Start requests the erasure of an author, which any serving process then takes on. If it is under
// way already, Start changes nothing. An erasure that only has to delete its own item has ended.
func (e *Eraser) Start(ctx context.Context, author comment.Author) (now comment.Erasure, err error) {
	at, err := e.requestedNow(ctx, author)
	if err != nil {
		return now, err
	}
	wanted := progress{author: author, report: comment.Erasure{State: comment.ErasureWaiting, RequestedAt: at}}
	it := wanted.attributes()
	maps.Copy(it, jobKey(author))
	condition, values := layout.IfAbsent, layout.Item(nil)
	err = call.RetryWrite(ctx, func(ctx context.Context, _ bool) error {
		for {
			now = wanted.report
			err := call.Put(ctx, e.client, call.PutIf(e.table, it, condition, values))
			there, refused := call.FoundInstead(err)
			if !refused {
				return err
			}
			mark, err := call.Item(ctx, e.client, e.table, markKey(author), "GetItem of the mark of an erasure")
			switch {
			case err != nil: // an earlier try may have put the item
				return &comment.Error{Kind: comment.Unavailable, Message: "whether this erasure was asked for could not be looked up; try again", Cause: err}
			case len(there) > 0 && !ended(mark, there): // else it was deleted since
				job, _ := readProgress(there) // its error is about the author, who is known here
				now = job.report
				return nil
			}
			condition, values = layout.AsRead(there, attrRequested)
		}
	})
	if err != nil {
		return comment.Erasure{}, call.Wrap(err, "PutItem of an erasure")
	}
	select {
	case e.wake <- struct{}{}:
	default: // a signal is waiting already
	}
	return now, nil
}

// ended reports whether a mark says that the erasure of an item has ended, or one that was
// requested later. A damaged item that does not say when it was requested has not ended.
func ended(mark, it layout.Item) bool {
	last, at := reportOf(mark), layout.NewReader(it).OptionalTime(attrRequested)
	return last.FinishedAt != nil && !at.IsZero() && !at.After(last.RequestedAt)
}

// requestedNow returns the time of a request that is made now: it is after that of the last erasure
// also where clocks differ.
func (e *Eraser) requestedNow(ctx context.Context, author comment.Author) (time.Time, error) {
	mark, err := e.item(ctx, markKey(author))
	now, next := millisecond(time.Now()), reportOf(mark).RequestedAt.Add(time.Millisecond)
	if next.After(now) {
		now = next
	}
	return now, err
}

// Status returns the erasure of an author that waits or is under way, or else the last one that
// ended. found is false if there was none.
func (e *Eraser) Status(ctx context.Context, author comment.Author) (now comment.Erasure, found bool, err error) {
	it, err := e.item(ctx, jobKey(author))
	if err != nil {
		return now, false, err
	}
	if len(it) > 0 {
		job, _ := readProgress(it) // its error is about the author, who is known here
		return job.report, true, nil
	}
	it, err = e.item(ctx, markKey(author))
	return reportOf(it), it[attrUntil] != nil, err
}

// item reads an item with the retries of the SDK alone, so that a request learns in time that the
// table is busy.
func (e *Eraser) item(ctx context.Context, key layout.Item) (layout.Item, error) {
	return call.Item(ctx, e.client, e.table, key, "GetItem of an erasure")
}

// erasing is an erasure under way.
type erasing struct {
	*Eraser
	author comment.Author
	work   *leases.Work
	show   func(comment.Erasure)

	mu       sync.Mutex // guards progress
	progress progress
}

// update changes the progress, which the next heartbeat saves.
func (r *erasing) update(change func(*progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

func (r *erasing) snapshot() progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}

// delete deletes an item if a condition holds, and reports whether it did.
func (r *erasing) delete(ctx context.Context, key layout.Item, condition string, values layout.Item) (gone bool, err error) {
	gone, err = r.write(ctx, func() (*types.ConsumedCapacity, error) {
		output, err := r.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: aws.String(r.table), Key: key, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}, call.NoRetries)
		if err != nil {
			return nil, err
		}
		return output.ConsumedCapacity, nil
	})
	return gone, call.Wrap(err, "DeleteItem of an erasure")
}

// write calls a function that writes, with retries, and reports whether its condition held. After a
// lost answer it may report false although the write happened.
func (r *erasing) write(ctx context.Context, write func() (*types.ConsumedCapacity, error)) (done bool, err error) {
	err = call.Retry(ctx, func() (further bool, err error) {
		consumed, err := write()
		if done, err = call.Done(err); done {
			r.update(func(p *progress) { p.report.WriteUnits += call.UnitsOf(consumed) })
		}
		return false, call.Wrap(err, "write of an erasure")
	})
	return done, err
}

// partition returns a comment's item and those beside it.
func (r *erasing) partition(ctx context.Context, id comment.ID) ([]layout.Item, error) {
	items, units, err := call.Partition(ctx, r.client, r.table, layout.CommentKey(id)[layout.AttrPK], "items of a comment")
	r.read(units)
	return items, err
}

// read counts read units.
func (r *erasing) read(units float64) {
	r.update(func(p *progress) { p.report.ReadUnits += units })
}
