package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
)

// tableRestore restores an export of DynamoDB.
type tableRestore struct {
	address                          string
	calls                            int
	replace, dryRun, create, noCount bool
	target                           keeper.Target
}

// run reads the whole export before it writes anything.
func (c tableRestore) run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	export, err := restore.Open(ctx, c.address)
	if err != nil {
		return err
	}
	check, err := export.Check(ctx, dynamo.LayoutVersion, output.NewProgress(term.Err, export.Items, "items checked"))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Table %s as it was at %s: %s, %s, %s; %s counted anew",
		output.Printable(export.Table), export.Time.Format(time.RFC3339), output.Count(check.Comments, "comment", "comments"), output.Count(check.Deleted, "deleted one", "deleted ones"),
		output.Count(check.Beside, "vote, report or other item", "votes, reports and other items"), output.Count(check.Derived, "item is", "items are"))
	if err := printFolded(term.Out, text+"\n"); err != nil {
		return err
	}
	if c.replace && check.Comments == 0 {
		return fmt.Errorf("nothing was restored: %w", restore.ErrNoComments)
	}
	if !c.dryRun {
		err = flags.with(ctx, Opening{Owner: "talkback import", Create: c.create || flags.local()}, term, func(session *Session) error {
			return c.write(ctx, session, export, check, term)
		})
	}
	if err != nil || len(check.Improper) == 0 {
		return err
	}
	return errors.Join(printFolded(term.Err, improperText(check.Improper)), errors.New(output.Count(len(check.Improper), "item is invalid, as it was when it was exported: repair or delete it by the key above",
		"items are invalid, as they were when they were exported: repair or delete them by the keys above")))
}

// write writes the items of an export, and waits until they are counted.
func (c tableRestore) write(ctx context.Context, session *Session, export *restore.Export, check *restore.Check, term Terminal) error {
	if !c.replace {
		if err := importer.NewRegistry(session.Client, session.Table).MakeRoom(ctx, check.Imports); err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
	}
	loader, progress := restorer(session, c.calls, c.replace), output.NewProgress(term.Err, int64(check.Comments+check.Deleted+check.Beside), "items")
	var done restore.Counts
	var took time.Duration
	waited, err := withCounting(ctx, session, c.target, c.noCount, "All items are in", term, func(ctx context.Context) (err error) {
		if done, err = export.Restore(ctx, check, loader, progress); err == nil {
			took = progress.End()
			err = removeOthers(ctx, loader, term)
		}
		return err
	})
	progress.End()
	text := output.Count(done.Written, "item", "items") + output.English.Sprintf(" written + %d already there", done.Existing)
	if done.Replaced > 0 {
		text += output.English.Sprintf(" + %d replaced", done.Replaced)
	}
	if done.Erased > 0 {
		text += output.English.Sprintf(" + %d of erased authors left out", done.Erased)
	}
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
		fallthrough
	case err != nil && took == 0:
		return fmt.Errorf("the restore stopped: %w\n%s of %d\nThe table is not complete. Run it again: it continues where it stopped", err, text, check.Comments+check.Deleted+check.Beside)
	case err != nil:
		return fmt.Errorf("%s, but it is not known whether all are counted: %w\nRun it again", text, err)
	}
	text += fmt.Sprintf(", in %.1f s", took.Seconds())
	if waited > 0 {
		text += fmt.Sprintf(", all counted after another %.1f s", waited.Seconds())
	}
	return printFolded(term.Out, text+"\n")
}

// restorer returns a loader that writes items unchanged.
func restorer(session *Session, calls int, replace bool) *restore.Loader {
	loader := restore.NewLoader(session.Client, session.Table, calls)
	loader.Replace, loader.Marks = replace, erasure.NewMarks(session.Client, session.Table)
	loader.Marks.Exact = true
	return loader
}

// removeOthers removes items that the copy lacks, if --replace is given.
func removeOthers(ctx context.Context, loader *restore.Loader, term Terminal) error {
	if !loader.Replace {
		return nil
	}
	removed, err := loader.RemoveOthers(ctx)
	if err != nil || removed == 0 {
		return err
	}
	return printFolded(term.Err, output.Count(removed, "item that the copy lacks is removed\n", "items that the copy lacks are removed\n"))
}
