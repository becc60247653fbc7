package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/talkback/talkback/internal/output"
)

// UnreplacedError is the error of an import that wrote all rows, but did not delete everything that
// the file lacks. It names the cure.
type UnreplacedError struct{ Reason string }

// Error returns the reason and the cure.
func (e *UnreplacedError) Error() string { return e.Reason }

// Report ends an import that returned err, and returns a summary of the rows. waited is the time
// from the last row until all comments were counted; 0 if nothing waited for that. If the import
// failed, the error contains the summary and the cure.
func (m *Import) Report(err error, waited time.Duration) (summary string, failure error) {
	took := cmp.Or(m.done.loaded, m.Progress.End())
	counted := err == nil // as far as the caller wanted
	err = errors.Join(err, m.Rejects.close())
	summary = m.summary(took, waited)
	described, flags := "describe it with --map, --language and --language-of", "describe it with flags such as --map"
	if m.Restore {
		described, flags = "export it again", "export it again"
	}
	switch {
	case err == nil && m.done.rows() == 0: // which is never intended
		return summary, errors.New("the file holds no rows: see that it was exported and copied completely")
	case err == nil && m.done.rows() == m.done.rejected:
		return summary, errors.New("no row can be imported: see the reasons, and correct the file, or " + described)
	case err == nil:
		return summary, nil
	case errors.As(err, new(*RejectsExistError)):
		return "", fmt.Errorf("%s: %w\n%s", m.stopped(), err, summary)
	case errors.Is(err, ErrTooManyRejects):
		return "", fmt.Errorf("%w: --max-rejects is %s, and %s\n%s\nCorrect the file, or %s, and run it again%s",
			err, m.Limit.text, m.stopped(), summary, flags, m.Rejects.again())
	case errors.As(err, new(*UnreplacedError)):
		return "", fmt.Errorf("%w\n%s", err, summary)
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	inTable := m.done.loaded > 0 && !m.DryRun && m.done.rows() > m.done.rejected
	if inTable && counted {
		return "", fmt.Errorf("the rows are in the table, but %w\n%s\nRun it again%s: it writes only the rejected rows", err, summary, m.Rejects.again())
	}
	if inTable {
		return "", fmt.Errorf("the rows are in the table, but it is not known whether all are counted: %w\n%s\nA server, talkback stream or a further import counts the rest", err, summary)
	}
	again := "Run it again" + m.Rejects.again()
	if !m.DryRun && m.done.rows() > m.done.rejected {
		again += ": it continues where it stopped"
	}
	return "", fmt.Errorf("%s: %w\n%s\n%s", m.stopped(), err, summary, again)
}

// stopped says how far an import came that stopped.
func (m *Import) stopped() string {
	switch {
	case m.done.line > 0:
		return fmt.Sprintf("the import stopped after line %d", m.done.line)
	case m.done.rows() == m.done.rejected:
		return "nothing was imported"
	}
	return "the import stopped in its first rows"
}

func (m *Import) summary(took, waited time.Duration) string {
	n := m.done
	loaded := output.English.Sprintf("%d written + %d already there", n.Written, n.Existing)
	for _, part := range []struct {
		count int
		what  string
	}{{n.Updated, "updated"}, {n.Changed, "changed here"}, {n.Deleted, "deleted before"}, {n.Erased, "of erased authors"}} {
		if part.count > 0 {
			loaded += output.English.Sprintf(" + %d %s", part.count, part.what)
		}
	}
	if m.DryRun {
		loaded = output.English.Sprintf("%d that an empty table would take", n.Written)
	}
	text := output.English.Sprintf("%s = %s + %d repeated in the file + %d rejected, in %.1f s (%s/s)",
		output.Count(n.rows(), "row", "rows"), loaded, n.Repeated, n.rejected, took.Seconds(), output.Count(output.Rate(n.rows(), took), "row", "rows"))
	if waited > 0 {
		text += fmt.Sprintf(", all counted after another %.1f s", waited.Seconds())
	}
	if n.replies > 0 {
		text += output.English.Sprintf("\nRows with a reply of the shop: %d", n.replies)
	}
	if n.Deleted > 0 {
		text += "\nDeleted comments stay deleted; --revive writes them again"
	}
	if n.Changed > 0 {
		text += "\nComments that were edited, replied to or decided about since their import stay as they are"
	}
	if n.Erased > 0 {
		text += "\n" + output.Count(n.Erased, "row is of an author who was erased from the table, and is left out",
			"rows are of authors who were erased from the table, and are left out")
	}
	if m.DryRun {
		text += "\nThis was a dry run: no table was asked, and nothing was written"
	}
	if n.rejected > 0 && m.Rejects.said == nil {
		text += fmt.Sprintf("\nThe rejected rows, with line and reason, are in %s", output.Printable(m.Rejects.path))
	}
	return text
}
