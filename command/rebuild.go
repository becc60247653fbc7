package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/terminal"
)

// Rebuild counts all comments anew.
type Rebuild struct {
	LeaderShards int `help:"Into how many parts the leaderboard is to be parted, 1 to ${max_shards}: more take more writes, fewer are read faster. Default: as it is." default:"0" placeholder:"N"`
	Calls        int `help:"How many products may be worked on at once. On AWS, more are faster. Default: what suits the local engine." default:"0" placeholder:"N"`
}

// Run rebuilds and says what was to be done. An error says how to go on: what was done is not lost.
func (c *Rebuild) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	if err := c.check(); err != nil {
		return usage(err)
	}
	session, err := flags.Open(ctx, Opening{Owner: "talkback rebuild"}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	rebuilder := counts.NewRebuilder(session.Client, session.Table, c.Calls)
	rebuilder.LeaderShards, rebuilder.Who, rebuilder.Engine = c.LeaderShards, processName("talkback rebuild"), session.run
	progress, err := progressOfItems(ctx, session, term)
	if err != nil {
		return err
	}
	var result counts.RebuildResult
	err = session.watch(ctx, func(ctx context.Context) error {
		var err error
		result, err = rebuilder.Run(ctx, func(p counts.RebuildProgress) { progress.Show(int(p.Items), p.Items) })
		return err
	})
	took := progress.End()
	if err != nil {
		return rebuildStopped(err)
	}
	return printRebuilt(term.Out, result, took)
}

// printRebuilt prints what was done. What could not be mended is the error that it returns.
func printRebuilt(out io.Writer, result counts.RebuildResult, took time.Duration) error {
	if err := printImproper(out, result.Improper); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, rebuildSummary(result, took)); err != nil {
		return err
	}
	err := improperError(result.Improper)
	switch {
	case len(result.Failed) > 0:
		return errors.Join(err, fmt.Errorf("the table refused the statistics of %d products, which may be wrong: %s", len(result.Failed), terminal.Printable(strings.Join(result.Failed, ", "))))
	case !result.Complete:
		return errors.Join(err, errors.New("records of the table's stream were lost meanwhile, so that changes may be missing; run it again"))
	}
	return err
}

func (c *Rebuild) check() error {
	if c.LeaderShards < 0 || c.LeaderShards > counts.MaxLeaderShards {
		return fmt.Errorf("--leader-shards %d is not a number of parts: give 1 to %d", c.LeaderShards, counts.MaxLeaderShards)
	}
	return checkCalls(c.Calls)
}

func rebuildSummary(done counts.RebuildResult, took time.Duration) string {
	text := terminal.English.Sprintf("The statistics of %d products are right: %d comments counted anew, %d of the products put right, in %.1f s",
		done.Products-len(done.Failed), done.Comments, done.Repaired, took.Seconds())
	if done.Resumed {
		text += "\nThis went on where an earlier rebuild was interrupted; what that one did is not in these numbers"
	}
	return text
}

// rebuildStopped says in one sentence what stopped a rebuild, and what to do.
func rebuildStopped(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the rebuild was interrupted; run it again: it goes on where it was")
	case comment.KindOf(err) == comment.Conflict:
		return errors.New(comment.MessageOf(err))
	}
	return fmt.Errorf("the rebuild stopped (%w); run it again: it goes on where it was", err)
}
