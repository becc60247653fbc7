package command

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/stream"
)

const (
	// beginAgain is how long counting rests after it stopped with an error, and twice as long after each further one, up to
	// restLongest: what does not go well of itself is not to be paid for again and again.
	beginAgain  = 5 * time.Second
	restLongest = 10 * time.Minute
	// lookForGaps is how often the state is looked at, which other processes may have changed.
	lookForGaps = 30 * time.Second
	// lookForEnd is how often is looked whether another process has counted everything.
	lookForEnd = 2 * time.Second
	// localPoll is how often the stream of an engine is read that has no limit to that.
	localPoll = 50 * time.Millisecond
)

// counting keeps the statistics of a table: it reads the stream together with all who do, and counts everything when that
// was never done or records were lost.
type counting struct {
	session  *Session
	who      string
	leases   *leases.Leases
	consumer *stream.Consumer
	log      *slog.Logger
	gap      chan struct{} // holds one when there was a gap
}

// newCounting makes the counting of a table; the name of the command is for people.
func newCounting(session *Session, name string, logger *slog.Logger) *counting {
	leases := leases.NewLeases(session.Client, session.Table)
	c := &counting{session: session, who: whoAmI(name), leases: leases, log: logger, gap: make(chan struct{}, 1)}
	c.consumer = &stream.Consumer{
		Source:  stream.NewSource(stream.NewClient(session.Client), session.Client, session.Table),
		Leases:  leases,
		Journal: leases,
		Handler: counts.NewCounter(session.Client, session.Table),
		Logger:  logger,
		OnGap:   func(stream.Gap) { c.noticeGap() },
		Engine:  session.run,
	}
	if !session.AWS {
		c.consumer.Poll = localPoll
	}
	return c
}

func (c *counting) noticeGap() {
	select {
	case c.gap <- struct{}{}:
	default: // it is known that there was one
	}
}

// beside counts while the work goes on, and then leaves it to others. What goes wrong with counting is logged and tried
// again: it is no matter of the work.
func (c *counting) beside(ctx context.Context, work func(context.Context) error) error {
	count, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { c.run(count) })
	defer running.Wait()
	defer stop()
	return work(ctx)
}

// run counts until the context ends.
func (c *counting) run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { c.insist(ctx, "reading the stream", c.consumer.Run) })
	running.Go(func() { c.insist(ctx, "counting all comments", c.keepComplete) })
	running.Go(func() { c.insist(ctx, "watching the lag", c.watchLag) })
	running.Wait()
}

// insist does something until the context ends, and begins again when it stops before.
func (c *counting) insist(ctx context.Context, what string, do func(context.Context) error) {
	for wait := beginAgain; ctx.Err() == nil; wait = min(2*wait, restLongest) {
		began := time.Now()
		err := withoutPanic(ctx, do)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > restLongest {
			wait = beginAgain
		}
		c.log.Error(what+" stopped and will begin again; the API is not concerned", "in", wait, "kind", int(comment.KindOf(err)), "error", err)
		rest(ctx, wait)
	}
}

// withoutPanic makes an error of a panic, whose value may hold a piece of a comment.
func withoutPanic(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic with a %T", value)
		}
	}()
	return do(ctx)
}

// rest waits, less if the context ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// keepComplete counts everything whenever that is to be done.
func (c *counting) keepComplete(ctx context.Context) error {
	for {
		if err := c.complete(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(lookForGaps)
		select {
		case <-ctx.Done():
		case <-c.gap:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// complete returns when everything was counted and no gap is known of since.
func (c *counting) complete(ctx context.Context) error {
	for told := false; ; {
		state, err := c.leases.State(ctx)
		if err != nil || state.Complete {
			return err
		}
		err = c.countAll(ctx, state)
		if comment.KindOf(err) != comment.Conflict {
			if err != nil {
				return err
			}
			continue
		}
		if !told {
			told = true
			c.log.Info("all comments are to be counted, and this process waits for its turn", "reason", comment.MessageOf(err))
		}
		rest(ctx, lookForEnd)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// countAll counts everything. A table without comments needs no counting. The error is of the kind Conflict while another
// process is at it, and when records were lost meanwhile.
func (c *counting) countAll(ctx context.Context, state stream.State) error {
	if marked, err := c.markEmpty(ctx, state); marked || err != nil {
		return err
	}
	began := time.Now()
	c.log.Info("all comments are being counted", "reason", whyCountAll(state))
	rebuilder := counts.NewRebuilder(c.session.Client, c.session.Table, 0)
	rebuilder.Who, rebuilder.Engine = c.who, c.session.run
	result, err := rebuilder.Run(ctx, func(counts.RebuildProgress) {})
	if err != nil {
		return err
	}
	for _, item := range result.Improper {
		c.log.Warn("an item is not what it should be and counts as nothing", "key", item.Key, "reason", item.Reason)
	}
	if len(result.Failed) > 0 {
		return fmt.Errorf("the table refused the statistics of %d products, %q among them", len(result.Failed), result.Failed[0])
	}
	if !result.Complete {
		return comment.Errorf(comment.Conflict, "records of the stream were lost meanwhile")
	}
	c.log.Info("all comments are counted", "products", result.Products, "comments", result.Comments, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func whyCountAll(state stream.State) string {
	if state.Gap == nil {
		return "they never were"
	}
	return state.Gap.Reason
}

// prepare says of a table without comments at once that all of its comments are counted, and sees that it drops what has
// expired. To be called before the first is written.
// What goes wrong is found again by whoever counts.
func (c *counting) prepare(ctx context.Context) {
	c.keepTimeToLive(ctx)
	state, err := c.leases.State(ctx)
	if err == nil {
		_, err = c.markEmpty(ctx, state)
	}
	if err != nil && ctx.Err() == nil {
		c.log.Warn("it is not known whether all comments are counted", "kind", int(comment.KindOf(err)), "error", err)
	}
}

// keepTimeToLive has the table drop what has expired. Where that may not be asked or changed, the log names the cure.
func (c *counting) keepTimeToLive(ctx context.Context) {
	err := dynamo.KeepTimeToLive(ctx, c.session.Client, c.session.Table)
	if err != nil && ctx.Err() == nil {
		c.log.Warn("it is not certain that the table drops what has expired, so that it may grow: "+
			"allow dynamodb:DescribeTimeToLive and dynamodb:UpdateTimeToLive, or switch it on for the attribute \"expires\"", "error", err)
	}
}

// markEmpty says of a table without comments, of which nobody ever said anything, that all of them are counted.
func (c *counting) markEmpty(ctx context.Context, state stream.State) (marked bool, err error) {
	if state.Version > 0 {
		return false, nil
	}
	since := time.Now()
	there, err := dynamo.HasComments(ctx, c.session.Client, c.session.Table)
	if err != nil || there {
		return false, err
	}
	return true, stream.MarkComplete(ctx, c.leases, state, since)
}

// orAsk tells up to when all is counted, from memory while this process counts, and else by asking.
func (c *counting) orAsk(ask func(context.Context) (time.Time, bool)) func(context.Context) (time.Time, bool) {
	return func(ctx context.Context) (upTo time.Time, known bool) {
		if upTo, known, current := c.consumer.WorkedOff(); current {
			return upTo, known
		}
		return ask(ctx)
	}
}

// watermark tells how far statistics follow the table.
type watermark struct{ leases *leases.Leases }

// WorkedOff is false as long as the statistics may be wrong.
func (w watermark) WorkedOff(ctx context.Context) (upTo time.Time, known bool, err error) {
	upTo, known, state, err := w.leases.WorkedOff(ctx)
	return upTo, known && state.Complete, err
}
