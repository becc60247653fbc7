package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
)

// Pages makes the files of page numbers from an export.
type Pages struct {
	Do    string `arg:"" name:"what" enum:"build" help:"What to do: build."`
	From  string `required:"" complete:"files" help:"File of export, plain or gzip; - for standard input." placeholder:"FILE"`
	To    string `required:"" type:"path" help:"Folder of the index. It is made if it is missing; no process may have it open." placeholder:"FOLDER"`
	Force bool   `help:"Replace an index that a server has built."`
}

// indexed is how many comments are brought into an index at a time.
const indexed = 1000

// Run makes the files and prints how many comments they hold. After an error the folder holds what
// it held before.
func (c *Pages) Run(ctx context.Context, term Terminal) (err error) {
	source, err := task.Await(ctx, func() (*reviewfile.Source, error) { return reviewfile.Open(c.From, term.In) })
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	store, err := objects.OpenFolder(ctx, c.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if covers, err := store.Covers(ctx); err != nil || covers != "" && !c.Force {
		return errors.Join(err, fmt.Errorf("%s holds an index that a server has built: give another folder, or --force to replace it", c.To))
	}
	build, err := store.Build(ctx)
	if err != nil {
		return err
	}
	progress := output.NewProgress(term.Err, source.Size, "comments")
	count, err := c.add(ctx, source, build, progress)
	took := progress.End()
	if err != nil {
		return fmt.Errorf("no index was made of %s: %w", output.Printable(c.From), err)
	}
	if err := build.Finish(ctx, ""); err != nil {
		return err
	}
	return c.report(term.Out, count, took)
}

// add brings all comments of an export into an index. A row that cannot be read ends it: an index
// that lacks one is wrong everywhere behind it.
func (c *Pages) add(ctx context.Context, source *reviewfile.Source, build pageindex.Build, progress *output.Progress) (count int, err error) {
	reader, err := reviewfile.NewReader(source, reviewfile.Options{Format: reviewfile.FormatOf(c.From), Restore: true})
	if err != nil {
		return 0, err
	}
	var entries []pageindex.Entry
	for {
		row, err := reader.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return count, err
		}
		ended := err != nil
		if !ended {
			cell := row.Comment.Cell()
			entries = append(entries, pageindex.Entry{Product: row.Comment.ProductID, Position: row.Comment.ID.Position(), Cell: &cell})
		}
		if ended || len(entries) == indexed {
			if err := build.Add(ctx, entries); err != nil {
				return count, err
			}
			count += len(entries)
			entries = entries[:0]
			progress.Show(count, source.Taken())
		}
		if ended {
			return count, nil
		}
	}
}

func (c *Pages) report(out io.Writer, count int, took time.Duration) error {
	_, err := output.English.Fprintf(out, "%d comments indexed in %s in %.1f s (%.0f comments/s)\n"+
		"A server with --pages files:%s does not know how old they are: it builds the index anew from its table.\n",
		count, output.Printable(c.To), took.Seconds(), output.Rate(count, took), output.Printable(c.To))
	return err
}
