package counting

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/internal/wait"
)

// A task that stopped with an error is restarted after firstRestart, and after twice as long each
// further time, up to longestRestart: a failure that does not go away must not cost capacity all
// the time. A task that ran for longer than longestRestart begins with firstRestart again.
const (
	firstRestart   = 5 * time.Second
	longestRestart = 10 * time.Minute
)

// restart runs a task until the context ends, and runs it again when it stops before. A panic
// counts as an error.
func (r *Runner) restart(ctx context.Context, task string, run func(context.Context) error) {
	for pause := firstRestart; ctx.Err() == nil; pause = min(2*pause, longestRestart) {
		began := time.Now()
		err := panics.Try(func() error { return run(ctx) })
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestRestart {
			pause = firstRestart
		}
		r.log.Error(task+" stopped and will begin again; the API is not concerned", "in", pause, "kind", int(comment.KindOf(err)), "error", err)
		_ = wait.For(ctx, pause) // the loop looks at the context
	}
}
