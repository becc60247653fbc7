package outbox

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// tailEvery is the time between two reads of a lane by Tail.
const tailEvery = 2 * time.Second

// keepAliveEvery is how often Tail calls keepAlive for a lane.
const keepAliveEvery = 24 * time.Hour

// perRead is how many items of a lane Tail reads at once.
const perRead = 100

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
			if err := o.lanes[lane].keepAlive(ctx); err == nil {
				due = o.now().Add(keepAliveEvery)
			}
		}
		if !batch.More {
			_ = task.Wait(ctx, tailEvery) // the loop checks the context
		}
	}
	return nil
}
