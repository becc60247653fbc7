package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// An import wants to know soon that all is counted.
const (
	importPoll = 25 * time.Millisecond
	importBeat = 250 * time.Millisecond
)

// during counts while an import is at work, and until all that it wrote is counted, by whomever.
func (c *counting) during(ctx context.Context, work *importing, out io.Writer) (err error) {
	work.counted, err = c.until(ctx, work.run, func(text string) {
		_, _ = fmt.Fprintln(out, "All rows are in; "+text) // what cannot be told is no reason to stop
	})
	return err
}

// until counts beside the work, and then until all is counted that was written before its end, by whomever. It returns how
// long that took from the end of the work. It says now and then what it waits for.
func (c *counting) until(ctx context.Context, work func(context.Context) error, say func(string)) (waited time.Duration, err error) {
	beat, poll := c.consumer.Beat, c.consumer.Poll
	defer func() { c.consumer.Beat, c.consumer.Poll = beat, poll }()
	c.consumer.Beat = importBeat
	if !c.session.AWS {
		c.consumer.Poll = importPoll
	}
	err = c.beside(ctx, func(ctx context.Context) error {
		if err := work(ctx); err != nil {
			return err
		}
		end := time.Now()
		if err := c.await(ctx, end, say); err != nil {
			return err
		}
		waited = time.Since(end)
		return nil
	})
	return waited, err
}

// await waits until all that is written is counted. That rests on what came through the stream, and on no clock: the time
// when the wait began is for telling how far that is away.
func (c *counting) await(ctx context.Context, began time.Time, say func(string)) error {
	var fence stream.Fence
	for next := began.Add(lineEvery); ; {
		state, leases, err := c.leases.Current(ctx)
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
			next = now.Add(lineEvery)
			upTo, known := stream.WorkedOff(leases)
			say(awaited(upTo, known, began))
		}
		rest(ctx, importBeat)
	}
}

// awaited says what is waited for.
func awaited(upTo time.Time, known bool, before time.Time) string {
	if !known || !upTo.Before(before) {
		return "all comments of the table are being counted."
	}
	return fmt.Sprintf("the last %s are still to be counted.", lagText(before.Sub(upTo)))
}
