package counts

import (
	"context"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// Prepare notes the layout of the table, marks a table without comments as counted, and makes it
// delete expired items. Call it before the first comment is written. It only logs errors: Run would
// meet them again.
func (r *Runner) Prepare(ctx context.Context) {
	if err := r.table.DropExpired(ctx); err != nil && ctx.Err() == nil {
		r.log.Warn("the table may keep expired items and grow: "+
			"allow dynamodb:DescribeTimeToLive and dynamodb:UpdateTimeToLive, or switch on time to live for the attribute \"expires\"", "error", err)
	}
	if err := r.table.NoteLayout(ctx); err != nil && ctx.Err() == nil {
		r.log.Warn("the table does not say which layout it has, so that programs of other releases may damage it; the next start tries again", "error", err)
	}
	state, err := r.leases.State(ctx)
	if err == nil {
		_, err = r.markEmpty(ctx, state)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("it is not known whether all comments are counted; counting tries again", "kind", int(comment.KindOf(err)), "error", err)
	}
}

// Run counts until the context ends. It logs errors and retries.
func (r *Runner) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { r.restart(ctx, "reading the stream", r.Consumer.Run) })
	running.Go(func() { r.restart(ctx, "counting all comments", r.keepComplete) })
	running.Go(func() { r.restart(ctx, "watching the lag", r.watchLag) })
	running.Wait()
}

// Beside counts while work runs, and returns the error of work. It only logs failures of counting.
func (r *Runner) Beside(ctx context.Context, work func(context.Context) error) error {
	return task.Beside(context.WithoutCancel(ctx), r.Run, func(context.Context) error { return work(ctx) })
}

// UpTo returns a function that reports the time up to which every change is counted: from memory
// while this process counts, else by calling ask.
func (r *Runner) UpTo(ask func(context.Context) (time.Time, bool)) func(context.Context) (time.Time, bool) {
	return func(ctx context.Context) (upTo time.Time, known bool) {
		if upTo, known, current := r.Consumer.ProcessedUpTo(); current {
			return upTo, known
		}
		return ask(ctx)
	}
}

// A task that stopped with an error is restarted after firstRestart, then after twice as long each
// time, up to longestRestart. A persistent failure must not consume capacity all the time. After
// running for longer than longestRestart, a task starts with firstRestart again.
//
// Errors of a busy or unreachable table pass, and then nothing should wait longer: the task is
// always restarted after firstRestart. Of such errors in a row, only the first is logged, and then
// one in every passingLogged.
const (
	firstRestart   = 5 * time.Second
	longestRestart = 10 * time.Minute
	passingLogged  = 60
)

// restart runs a named task until the context ends, and restarts it when it stops earlier. A panic
// counts as an error.
func (r *Runner) restart(ctx context.Context, name string, run func(context.Context) error) {
	passing := 0 // errors in a row
	for pause := firstRestart; ctx.Err() == nil; {
		began := time.Now()
		err := task.Try(func() error { return run(ctx) })
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestRestart {
			pause, passing = firstRestart, 0
		}
		switch comment.KindOf(err) {
		case comment.Throttled, comment.Unavailable, comment.Timeout: // the table is busy or away
			pause = firstRestart
			passing++
		default:
			passing = 0
		}
		if passing == 0 || passing%passingLogged == 1 {
			r.log.Error(name+" stopped and will start again; the API is not affected", "in", pause, "kind", int(comment.KindOf(err)), "error", err)
		}
		_ = task.Wait(ctx, pause) // the loop checks the context
		pause = min(2*pause, longestRestart)
	}
}
