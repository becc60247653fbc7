package counting

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// A task that stopped with an error is restarted after firstRestart, and after twice as long each
// further time, up to longestRestart: a failure that does not go away must not cost capacity all
// the time. A task that ran for longer than longestRestart begins with firstRestart again.
//
// An error of a table that is busy or away passes by itself, and then nobody should wait: the task
// is restarted after firstRestart each time. Only the first such error in a row is logged, and then
// one in every passingTold.
const (
	firstRestart   = 5 * time.Second
	longestRestart = 10 * time.Minute
	passingTold    = 60
)

// restart runs a named task until the context ends, and runs it again when it stops before. A panic
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
		if passes(err) {
			pause = firstRestart
			passing++
		} else {
			passing = 0
		}
		if passing == 0 || passing%passingTold == 1 {
			r.log.Error(name+" stopped and will begin again; the API is not concerned", "in", pause, "kind", int(comment.KindOf(err)), "error", err)
		}
		_ = task.Wait(ctx, pause) // the loop looks at the context
		pause = min(2*pause, longestRestart)
	}
}

// passes reports whether an error is that of a table that is busy or away.
func passes(err error) bool {
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout:
		return true
	}
	return false
}
