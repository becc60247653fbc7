package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
)

// listImports prints all imports of the table. Its error is about damaged ones.
func listImports(ctx context.Context, session *Session, term Terminal) error {
	all, damaged, err := importer.NewRegistry(session.Client, session.Table).List(ctx)
	if err != nil {
		return err
	}
	screen, text := output.ScreenOf(term.Out), ""
	if len(all) > 0 {
		table := output.NewTable("IMPORT", "BEGAN", "ADDED", "UPDATED", "STATE")
		for _, m := range all {
			state := "ended"
			switch {
			case !m.Undone.IsZero():
				state = "taken back " + m.Undone.Format(time.RFC3339)
			case m.Ended.IsZero():
				state = "running, or killed"
			}
			table.Row(output.Printable(m.Name), m.Begun.Format(time.RFC3339), output.English.Sprint(m.Written), output.English.Sprint(m.Updated), state)
		}
		text = table.On(screen)
	} else if len(damaged) == 0 {
		text = screen.Fold("No import has a name in this table.\n")
	}
	if _, err = io.WriteString(term.Out, text); err != nil || len(damaged) == 0 {
		return err
	}
	if err := printFolded(term.Err, improperText(damaged)); err != nil {
		return err
	}
	return errors.New(output.Count(len(damaged), "import cannot be read: repair its item by the key above; if you delete it, the import cannot be taken back",
		"imports cannot be read: repair their items by the keys above; if you delete one, its import cannot be taken back"))
}

// undoImport removes the comments of an import, and waits until that is counted, unless others is
// set. First it prints the cost, and asks the user of a terminal for confirmation.
func undoImport(ctx context.Context, session *Session, name string, yes bool, target keeper.Target, others bool, term Terminal) error {
	registry := importer.NewRegistry(session.Client, session.Table)
	m, err := registry.Find(ctx, name)
	if err != nil {
		return err
	}
	price, err := priceOfScan(ctx, session)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s added %s, this reads the whole table", output.Printable(m.Name), output.Count(m.Written, "comment. To find it", "comments. To find them"))
	if m.Ended.IsZero() {
		text = fmt.Sprintf("%s still runs, or was killed: it added %s or more. To find them, this reads the whole table", output.Printable(m.Name), output.Count(m.Written, "comment", "comments"))
	}
	if err := printFolded(term.Err, text+price+"\n"); err != nil {
		return err
	}
	if !yes && asks(term) {
		if err := confirm(ctx, term, "Take this import back?", "removed"); err != nil {
			return err
		}
	}
	var done importer.Undone
	progress := output.NewProgress(term.Err, -1, "comments")
	_, err = withCounting(ctx, session, target, others, "All are removed", term, func(ctx context.Context) (err error) {
		done, err = registry.Undo(ctx, name, func(u importer.Undone) { progress.Show(u.Removed+u.Changed, 0) })
		return err
	})
	progress.End()
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		return fmt.Errorf("%s, and then it stopped: %w. Run it again: it goes on where it stopped", undoneText(done), err)
	}
	return printFolded(term.Out, undoneText(done)+"\n")
}

func undoneText(u importer.Undone) string {
	text := output.Count(u.Removed, "comment is removed", "comments are removed")
	if u.Changed > 0 {
		text += "; " + output.Count(u.Changed, "was edited, replied to or decided about since, and stays", "were edited, replied to or decided about since, and stay")
	}
	return text
}

// withCounting runs work on the table. Meanwhile and afterwards it counts, until everything that
// work wrote is counted; if others is set, it leaves counting to other processes. It returns how
// long counting took after work ended. done begins the message about a backlog.
func withCounting(ctx context.Context, session *Session, target keeper.Target, others bool, done string, term Terminal, work func(context.Context) error) (waited time.Duration, err error) {
	if others {
		return 0, session.watch(ctx, work)
	}
	err = session.withPages(ctx, target, term.Logger, func(pages *pages) error {
		runner := newCounting(session, pages, nil, term.Logger)
		runner.Prepare(ctx)
		return session.watch(ctx, func(ctx context.Context) (err error) {
			waited, err = runner.Until(ctx, work, func(b counts.Backlog) { printBacklog(term.Err, done, b) })
			return err
		})
	})
	return waited, err
}
