package counts

import (
	"context"
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

const (
	// checkEvery is the time between two checks of the state, which other processes may change.
	checkEvery = 30 * time.Second
	// sightEvery is the time between two checks of the state that the Consumer last read.
	sightEvery = time.Second
	// turnEvery is the time between two attempts to rebuild while another process does. If that one
	// is killed, a waiting one takes over within this time after the rebuild's heartbeat timeout.
	turnEvery = time.Second
)

// keepComplete completes the statistics at once, after each gap that any process found, and every
// 30 seconds.
func (r *Runner) keepComplete(ctx context.Context) error {
	for {
		if err := r.complete(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		r.awaitGap(ctx)
	}
}

// awaitGap waits until the statistics may be incomplete. Gaps found by other processes are in the
// state, which the Consumer reads with the leases. So a gap is closed even if the process that
// found it is gone.
func (r *Runner) awaitGap(ctx context.Context) {
	sight := time.NewTicker(sightEvery)
	defer sight.Stop()
	for check := time.After(checkEvery); ; {
		select {
		case <-ctx.Done():
			return
		case <-r.gap:
			return
		case <-check:
			return
		case <-sight.C:
			if r.Consumer.SawGap() {
				return
			}
		}
	}
}

// complete rebuilds the statistics until they are complete: all comments were counted, and no gap
// was found since. It waits while another process rebuilds.
func (r *Runner) complete(ctx context.Context) error {
	for waiting := false; ; {
		state, err := r.leases.State(ctx)
		if err != nil || state.Complete {
			return err
		}
		err = r.rebuild(ctx, state)
		if err == nil {
			continue
		}
		if comment.KindOf(err) != comment.Conflict {
			return err
		}
		if !waiting {
			waiting = true
			r.log.Info("all comments have to be counted; this process waits for another to finish", "reason", comment.MessageOf(err))
		}
		if err := task.Wait(ctx, turnEvery); err != nil {
			return err
		}
	}
}

// rebuild counts all comments, unless there are none. The error is of the kind Conflict if another
// process rebuilds, or if records of the stream were lost meanwhile.
func (r *Runner) rebuild(ctx context.Context, state stream.State) error {
	if marked, err := r.markEmpty(ctx, state); marked || err != nil {
		return err
	}
	began, reason := time.Now(), "they never were"
	if state.Gap != nil {
		reason = state.Gap.Reason
	}
	r.log.Info("all comments are being counted", "reason", reason)
	result, err := r.table.Rebuild(ctx)
	if err != nil {
		return err
	}
	for _, item := range result.Improper {
		r.log.Warn("an item is invalid and not counted: repair or delete it, then run talkback rebuild", "key", item.Key, "reason", item.Reason)
	}
	if len(result.Failed) > 0 {
		return fmt.Errorf("the table refused the statistics of %s, %q among them", comment.Amount(len(result.Failed), "product"), result.Failed[0])
	}
	if !result.Complete {
		return comment.Errorf(comment.Conflict, "records of the stream were lost meanwhile")
	}
	r.log.Info("all comments are counted", "products", result.Products, "comments", result.Comments, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// markEmpty marks a table as completely counted if it holds no comments and has no state yet, and
// reports whether it did.
func (r *Runner) markEmpty(ctx context.Context, state stream.State) (marked bool, err error) {
	if state.Version > 0 {
		return false, nil
	}
	since := time.Now()
	hasComments, err := r.table.HasComments(ctx)
	if err != nil || hasComments {
		return false, err
	}
	return true, stream.MarkComplete(ctx, r.leases, state, since)
}
