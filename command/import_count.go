package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/talkback/talkback/comment"
)

// An import wants to know soon that all is counted.
const (
	importPoll = 25 * time.Millisecond
	importBeat = 250 * time.Millisecond
)

// during counts while an import is at work, and until all that it wrote is counted, by whomever.
func (c *counting) during(ctx context.Context, work *importing, out io.Writer) error {
	c.consumer.Beat = importBeat
	if !c.session.AWS {
		c.consumer.Poll = importPoll
	}
	return c.beside(ctx, func(ctx context.Context) error {
		if err := work.run(ctx); err != nil {
			return err
		}
		end := time.Now()
		if err := c.await(ctx, end, out); err != nil {
			return err
		}
		work.counted = time.Since(end)
		return nil
	})
}

// await waits until all that was written before a moment is counted. It tells now and then how far that is away.
func (c *counting) await(ctx context.Context, before time.Time, out io.Writer) error {
	for next := time.Now().Add(lineEvery); ; {
		upTo, known, state, err := c.leases.WorkedOff(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && comment.KindOf(err) == comment.Internal:
			return err
		case err == nil && known && state.Complete && !upTo.Before(before):
			return nil
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(lineEvery)
			_, _ = fmt.Fprintln(out, awaited(upTo, known, before)) // what cannot be told is no reason to stop
		}
		rest(ctx, importBeat)
	}
}

// awaited says what is waited for.
func awaited(upTo time.Time, known bool, before time.Time) string {
	if !known || !upTo.Before(before) {
		return "All rows are in; all comments of the table are being counted."
	}
	return fmt.Sprintf("All rows are in; the last %s of the import are still to be counted.", lagText(before.Sub(upTo)))
}
