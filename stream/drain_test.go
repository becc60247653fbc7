package stream

import (
	"context"

	"github.com/talkback/talkback/internal/task"
)

// Drain waits until every change committed before the call is processed, by whichever processes
// hold the leases. It retries temporary errors until the context ends.
func Drain(ctx context.Context, c *Consumer) error {
	var fence Fence
	for {
		state, err := c.Journal.State(ctx)
		var leases []Lease
		if err == nil && state.Label != "" {
			leases, err = c.Leases.List(ctx, state.Label)
		}
		switch {
		case err != nil && !Passes(err):
			return err
		case err == nil && fence == nil:
			fence = FenceOf(leases)
		case err == nil && fence.Passed(leases):
			return nil
		}
		if err := task.Wait(ctx, c.heartbeat()/4); err != nil {
			return err
		}
	}
}
