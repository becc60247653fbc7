package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Author exports or erases what the table holds about an author.
type Author struct {
	Do   string `arg:"" name:"what" enum:"export,erase" help:"What to do: export or erase."`
	ID   string `arg:"" help:"The shop's own id of the customer; with --imported, the id that a file of reviews has."`
	File string `arg:"" optional:"" default:"-" complete:"files" help:"File that export writes, as JSON Lines: the comments as talkback export writes them, with decisions, reports, votes and keys. Standard output by default. It is compressed if its name ends in .gz."`

	Imported bool `help:"The author of imported comments, not a customer. No index has them, so this reads the whole table."`
	Scan     bool `help:"Read the whole table, for --imported. Without it, talkback author prints what that costs, and ends."`
	Force    bool `help:"Replace an existing file."`
}

func (c *Author) author() comment.Author { return comment.Author{ID: c.ID, Imported: c.Imported} }

// Run exports or erases, and prints the result.
func (c *Author) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	if err := c.check(); err != nil {
		return asUsage(err)
	}
	if c.Do == "erase" {
		return flags.with(ctx, Opening{Owner: "talkback author"}, term, func(session *Session) error {
			return c.erase(ctx, session, term)
		})
	}
	return flags.export(ctx, "talkback author", c.File, c.Force, term, c.write)
}

func (c *Author) check() error {
	if c.Scan && !c.Imported {
		return errors.New("--scan reads the whole table for imported authors: give --imported too, or leave it out; customers are found by an index")
	}
	if c.Do == "erase" && (c.File != "-" || c.Force) {
		return errors.New("talkback author erase writes no file: leave out the file and --force; talkback author export writes a copy first")
	}
	if other := otherFormat(c.File); other != "" {
		return fmt.Errorf("an export is JSON Lines, and %s would be taken for %s: name it .jsonl or .jsonl.gz", c.File, other)
	}
	return c.author().CheckID()
}

// checkScan returns an error with the cost of reading the whole table, unless the flags ask for it.
func (c *Author) checkScan(ctx context.Context, session *Session) error {
	if !c.Imported || c.Scan {
		return nil
	}
	price, err := priceOfScan(ctx, session)
	if err != nil {
		return err
	}
	return usagef("imported authors are in no index, so this reads the whole table%s; run it again with --scan", price)
}

// priceOfScan describes the cost of reading the whole table, after a colon. It is empty if the
// engine does not report the table's size: the local one counts items but does not measure them.
func priceOfScan(ctx context.Context, session *Session) (string, error) {
	items, units, err := dynamo.NewScanner(session.Client, session.Table, 0).Estimate(ctx)
	if err != nil || units == 0 {
		return "", err
	}
	return output.English.Sprintf(": about %s, %.0f read units", output.Count(items, "item", "items"), units), nil
}

// write writes all lines and keeps the file. It returns a report of their numbers.
func (c *Author) write(ctx context.Context, e *exporting) (report string, err error) {
	if err := c.checkScan(ctx, e.session); err != nil {
		return "", err
	}
	store := dynamo.NewStore(e.session.Client, e.session.Table, dynamo.Options{Improper: e.leaveOut})
	scanner := dynamo.NewScanner(e.session.Client, e.session.Table, 0)
	scanner.Everything, scanner.OnImproper = true, e.leaveOut
	var comments, decisions, reports, votes, keys int
	form := fileForm[dynamo.AuthorRecord]{appendTo: func(lines []byte, record dynamo.AuthorRecord) (_ []byte, err error) {
		switch {
		case record.Report != nil:
			reports++
			return reviewfile.AppendReport(lines, record.CommentID, *record.Report)
		case record.Vote != nil:
			votes++
			return reviewfile.AppendVote(lines, record.CommentID, *record.Vote)
		}
		comments++
		if lines, err = reviewfile.AppendPartial(lines, *record.Comment); err != nil {
			return nil, err
		}
		for _, decision := range record.Decisions {
			decisions++
			if lines, err = reviewfile.AppendDecision(lines, decision); err != nil {
				return nil, err
			}
		}
		if key := record.Key; key != nil {
			keys++
			return reviewfile.AppendKey(lines, record.CommentID, key.Hash, key.Expires)
		}
		return lines, nil
	}}
	_, err = writeLines(e.out, isGzipName(c.File), store.AuthorRecords(ctx, c.author(), scanner), form, func(int) { e.progress.Show(comments, int64(comments)) })
	if err != nil {
		return "", err
	}
	report = fmt.Sprintf("%s, %s about them, %s, and %s of other comments and %s about them written to %s",
		output.Count(comments, "comment", "comments"), output.Count(decisions, "decision", "decisions"), output.Count(keys, "key", "keys"),
		output.Count(reports, "report", "reports"), output.Count(votes, "vote", "votes"), e.out.Name())
	if !c.Imported {
		report += "\nImported comments of an author with the same id are not in it: see --imported"
	}
	return report, e.out.Keep(ctx)
}

func (c *Author) erase(ctx context.Context, session *Session, term Terminal) error {
	if err := c.checkScan(ctx, session); err != nil {
		return err
	}
	// An error is ignored, as it is when progress is printed: the erasure is what counts.
	_ = printFolded(term.Err, "An erasure takes half a minute or more: it waits for imports that write at this moment.\n")
	progress := output.NewProgress(term.Err, -1, "comments")
	var done comment.Erasure
	err := session.watch(ctx, func(ctx context.Context) (err error) {
		done, err = newEraser(session).Run(ctx, c.author(), func(now comment.Erasure) {
			progress.Show(now.Comments, int64(now.Comments))
		})
		return err
	})
	progress.End()
	if err != nil {
		return stopped(err, "the erasure", "a server goes on with it, or run it again: it continues where it stopped")
	}
	report := output.English.Sprintf("%s erased, with %s, %s, %s about them, %s of them and %s; "+
		"and %s of other comments and %s about them, for %.0f read and %.0f write units",
		output.Count(done.Comments, "comment", "comments"), output.Count(done.HeldEdits, "held edit", "held edits"), output.Count(done.Replies, "reply", "replies"),
		output.Count(done.Decisions, "decision", "decisions"), output.Count(done.ReportsAbout, "report", "reports"), output.Count(done.Keys, "key", "keys"),
		output.Count(done.Reports, "report", "reports"), output.Count(done.Votes, "vote", "votes"), done.ReadUnits, done.WriteUnits)
	if !c.Imported {
		report += "\nImported comments of an author with the same id are erased by --imported"
	}
	return printFolded(term.Out, report+"\n")
}

func newEraser(session *Session) *erasure.Eraser {
	return erasure.New(session.Client, session.Table, session.process(), session.run)
}
