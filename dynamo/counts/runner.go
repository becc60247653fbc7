package counts

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// localPoll is the time between two reads of a local engine's stream, which has no rate limit.
const localPoll = 50 * time.Millisecond

// RunnerTable is what is done with the table whose comments are counted.
type RunnerTable struct {
	// HasComments reports whether the table holds any comment.
	HasComments func(ctx context.Context) (bool, error)
	// DropExpired makes the table delete expired items, unless it does already.
	DropExpired func(ctx context.Context) error
	// NoteLayout notes the items' layout in the table, unless it is already noted.
	NoteLayout func(ctx context.Context) error
	// Rebuild counts all comments again. The error is of the kind Conflict while another process
	// does so.
	Rebuild func(ctx context.Context) (RebuildResult, error)
}

// RunnerLeases tell how far the table's stream was read.
type RunnerLeases interface {
	stream.Journal
	// Current returns the state and the leases of the stream that is being read.
	Current(ctx context.Context) (stream.State, []stream.Lease, error)
}

// Runner keeps the statistics of a table up to date while a command runs. It reads the table's
// stream, sharing it with other processes. It rebuilds the statistics when they may be wrong, warns
// when they are late, and can wait until all writes are counted.
type Runner struct {
	// Consumer reads the stream. Its fields may be changed before Run, Beside and Until.
	Consumer *stream.Consumer

	leases RunnerLeases
	table  RunnerTable
	local  bool
	log    *slog.Logger
	gap    chan struct{} // holds one signal after a gap
}

// NewRunner makes a Runner. local means that the table's engine does not limit reads of its stream.
func NewRunner(consumer *stream.Consumer, leases RunnerLeases, table RunnerTable, local bool, log *slog.Logger) *Runner {
	r := &Runner{Consumer: consumer, leases: leases, table: table, local: local, log: log, gap: make(chan struct{}, 1)}
	consumer.OnGap = func(stream.Gap) {
		select {
		case r.gap <- struct{}{}:
		default: // a signal is waiting already
		}
	}
	if local {
		consumer.Poll = localPoll
	}
	return r
}

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

// While a caller waits for the counts, the stream is read more often.
const (
	waitingPoll      = 25 * time.Millisecond
	waitingHeartbeat = 250 * time.Millisecond
)

// tellEvery is the time between two reports to a waiting caller.
const tellEvery = 5 * time.Second

// Backlog is the work that is still to be counted.
type Backlog struct {
	// Behind is the lag of counting, 0 if Rebuilding.
	Behind time.Duration
	// Rebuilding means that, as far as known, all comments of the table are being counted.
	Rebuilding bool
}

// Until counts while work runs, and then until everything written before its end is counted, by
// this or any other process. It returns how long that took after the end of work. Every 5 seconds
// it calls tell with the backlog.
func (r *Runner) Until(ctx context.Context, work func(context.Context) error, tell func(Backlog)) (waited time.Duration, err error) {
	heartbeat, poll := r.Consumer.Heartbeat, r.Consumer.Poll
	defer func() { r.Consumer.Heartbeat, r.Consumer.Poll = heartbeat, poll }()
	r.Consumer.Heartbeat = waitingHeartbeat
	if r.local {
		r.Consumer.Poll = waitingPoll
	}
	err = r.Beside(ctx, func(ctx context.Context) error {
		if err := work(ctx); err != nil {
			return err
		}
		end := time.Now()
		if err := r.await(ctx, end, tell); err != nil {
			return err
		}
		waited = time.Since(end)
		return nil
	})
	return waited, err
}

// await waits until everything written before the call is counted. The stream itself proves that,
// without comparing clocks. end is the end of the work, and only serves to report the backlog.
func (r *Runner) await(ctx context.Context, end time.Time, tell func(Backlog)) error {
	var fence stream.Fence
	for next := end.Add(tellEvery); ; {
		state, leases, err := r.leases.Current(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && comment.KindOf(err) == comment.Internal:
			return err
		case err == nil && fence == nil:
			fence = stream.FenceOf(leases)
		case err == nil && state.Complete && fence.Passed(leases):
			return nil
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(tellEvery)
			tell(backlogOf(leases, end))
		}
		_ = task.Wait(ctx, waitingHeartbeat) // the loop checks the context
	}
}

// backlogOf returns the backlog of writes before the end.
func backlogOf(leases []stream.Lease, end time.Time) Backlog {
	upTo, known := stream.ProcessedUpTo(leases)
	if !known || !upTo.Before(end) {
		return Backlog{Rebuilding: true}
	}
	return Backlog{Behind: end.Sub(upTo)}
}

const (
	// lagEvery is the time between two readings of the lag.
	lagEvery = 10 * time.Second
	// worryingLag is the smallest lag that is logged.
	worryingLag = time.Minute
)

// watchLag logs when the statistics are far behind the comments, and when they have caught up.
func (r *Runner) watchLag(ctx context.Context) error {
	for logged := time.Duration(0); ; {
		if err := task.Wait(ctx, lagEvery); err != nil {
			return err
		}
		state, leases, err := r.leases.Current(ctx)
		if err != nil {
			return err
		}
		upTo, known := state.ProcessedUpTo(leases)
		if !known {
			continue
		}
		lag := time.Since(upTo)
		next, due := lagToLog(logged, lag)
		switch {
		case due && next > 0:
			r.log.Warn("the statistics are behind the comments", "lag", lag.Round(time.Second))
		case due:
			r.log.Info("the statistics have caught up with the comments", "lag", lag.Round(time.Millisecond))
		}
		logged = next
	}
}

// lagToLog decides whether to log a lag, given the last lag that was logged, 0 for none. It logs a
// lag of a minute or more, then each that is at least twice the last, and the end. next is the
// value of logged for the next call.
func lagToLog(logged, lag time.Duration) (next time.Duration, due bool) {
	switch {
	case lag >= worryingLag && lag >= 2*logged:
		return lag, true
	case logged > 0 && lag < worryingLag:
		return 0, true
	}
	return logged, false
}
