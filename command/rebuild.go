package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/output"
)

// Rebuild counts all comments again.
type Rebuild struct {
	OnlyPagesFlag

	LeaderShards int `help:"Number of shards of the leaderboard, 1 to ${max_shards}: more shards take more writes, fewer are faster to read; 0 for as many as there are (default: ${default})." default:"0" placeholder:"N" type:"shards"`
	Calls        int `help:"Number of products to rebuild concurrently, at most ${max_calls}. More are faster on AWS; 0 for what suits the local engine (default: ${default})." default:"0" placeholder:"N" type:"calls"`
}

// Run rebuilds, and prints what was repaired. An error says how to continue: finished work is kept.
func (c *Rebuild) Run(ctx context.Context, flags *EngineFlags, term Terminal, line *kong.Context) error {
	target, only, err := c.OnlyPagesFlag.target(line)
	if err != nil {
		return err
	}
	return flags.withPages(ctx, target, "talkback rebuild", term, func(session *Session, pages *pages) error {
		if only && pages.store != nil {
			return rebuildPages(ctx, session, pages, term)
		}
		if c.Pages == "" {
			if store, err := pages.elsewhere(ctx, session); err != nil || store != "" {
				return cmp.Or(err, usagef("page numbers are in %s, not in the table: set TALKBACK_PAGES to that store, or to table if you leave it", output.Printable(store)))
			}
		}
		// Processes that count do so when they start. Where functions alone do, only this command does.
		if err := dynamo.NoteLayout(ctx, session.Client, session.Table); err != nil {
			return stopped(err, "the rebuild", "run it again")
		}
		options := pages.rebuilding(session)
		options.Calls, options.LeaderShards = c.Calls, c.LeaderShards
		rebuilder := counts.NewRebuilder(session.Client, session.Table, options)
		var result counts.RebuildResult
		took, err := session.watchItems(ctx, term, func(ctx context.Context, show func(int64)) (err error) {
			result, err = rebuilder.Run(ctx, func(p counts.RebuildProgress) { show(p.Items) })
			return err
		})
		if err != nil {
			return stopped(err, "the rebuild", "run it again: it continues where it stopped")
		}
		return printRebuilt(term.Out, result, took)
	})
}

// printRebuilt prints what was repaired. Its error says what could not be repaired.
func printRebuilt(out io.Writer, result counts.RebuildResult, took time.Duration) error {
	if err := printFolded(out, improperText(result.Improper)+rebuildSummary(result, took)+"\n"); err != nil {
		return err
	}
	err := improperError(result.Improper)
	switch {
	case len(result.Failed) > 0:
		return errors.Join(err, fmt.Errorf("the table refused the statistics of %s, which may be wrong: %s", output.Count(len(result.Failed), "product", "products"), output.Printable(strings.Join(result.Failed, ", "))))
	case !result.Complete:
		return errors.Join(err, errors.New("records of the table's stream were lost meanwhile, so that changes may be missing; run it again"))
	}
	return err
}

func rebuildSummary(done counts.RebuildResult, took time.Duration) string {
	text := fmt.Sprintf("The statistics of %s right: %s counted again, %s repaired, in %.1f s",
		output.Count(done.Products-len(done.Failed), "product are", "products are"), output.Count(done.Comments, "comment", "comments"),
		output.Count(done.Repaired, "product", "products"), took.Seconds())
	if done.Refiled > 0 {
		text += "\n" + output.Count(done.Refiled, "comment was in wrong lists, or in a wrong place of the moderators' queue, and was moved",
			"comments were in wrong lists, or in a wrong place of the moderators' queue, and were moved")
	}
	if done.Recounted > 0 {
		text += "\n" + output.Count(done.Recounted, "comment showed wrong numbers of votes, and was corrected", "comments showed wrong numbers of votes, and were corrected")
	}
	if done.Resumed {
		text += "\nThis continued an interrupted rebuild, whose work is not in these numbers"
	}
	return text
}

// rebuildPages rebuilds the store of the flag, and prints how many comments it holds.
func rebuildPages(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	var entries int64
	took, err := session.watchItems(ctx, term, func(ctx context.Context, show func(int64)) (err error) {
		entries, err = pages.keeper.Build(ctx, show)
		return err
	})
	if err != nil {
		return stopped(pages.explain(err), "building the page index", "run it again")
	}
	return printFolded(term.Out, fmt.Sprintf("The page numbers in %s are complete: %s read in %.1f s\n", output.Printable(pages.target.Name), output.Count(entries, "comment", "comments"), took.Seconds()))
}
