package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/output"
)

// rebuildPages builds the store of the flag anew, and prints how many comments it holds.
func rebuildPages(ctx context.Context, session *Session, pages *pages, term Terminal) error {
	progress, err := progressOfItems(ctx, session, term)
	if err != nil {
		return err
	}
	var entries int64
	err = session.watch(ctx, func(ctx context.Context) error {
		var err error
		entries, err = pages.keeper.Build(ctx, func(n int64) { progress.Show(int(n), n) })
		return err
	})
	took := progress.End()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the page index was not built to its end; run it again")
	case comment.KindOf(err) == comment.Conflict:
		return errors.New(comment.MessageOf(err))
	case err != nil:
		return fmt.Errorf("building the page index stopped (%w); run it again", err)
	}
	_, err = fmt.Fprintln(term.Out, output.ScreenOf(term.Out).Fold(rebuiltPages(pages.target.Name, entries, took)))
	return err
}

func rebuiltPages(store string, entries int64, took time.Duration) string {
	return output.English.Sprintf("The page numbers in %s are complete: %d comments read in %.1f s", output.Printable(store), entries, took.Seconds())
}
