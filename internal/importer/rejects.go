package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Errors of NewRejects about the name of the file.
var (
	// ErrRejectsOnStandardOutput means that the file of rejected rows is standard output.
	ErrRejectsOnStandardOutput = errors.New("--rejects names standard output, where the summary goes: name a file")
	// ErrRejectsIsInput means that it is the imported file, perhaps under another name.
	ErrRejectsIsInput = errors.New("--rejects names the file to import itself: name another")
)

// maxPrinted is how many rejected rows are printed if no file stores them.
const maxPrinted = 10

// Rejects writes rejected rows to a file, which exists only if there are any. Only this file
// contains the text of a review next to a reason: it belongs to the owner of the imported file. It
// gets its name when the import ends, even if that failed.
type Rejects struct {
	path  string
	force bool // whether to replace an existing file
	dry   bool // whether to write nothing
	// same is an existing file, while the rejected rows equal those in it; nil for none.
	same  *os.File
	lines *bufio.Reader // of same
	count int
	file  *output.File // nil before the first row
	out   *bufio.Writer

	said    io.Writer // rows are printed here instead of to a file; nil for a file
	printed int
}

// RejectsExistError means that the file of rejected rows exists and holds different rows.
type RejectsExistError struct{ path string }

// Error returns one sentence that names the file and the cure.
func (e *RejectsExistError) Error() string {
	return fmt.Sprintf("the rejected rows would go to %s, which exists, perhaps from an earlier import, and holds others: "+
		"move it away, name another file by --rejects, or write over it by --force", output.Printable(e.path))
}

// NewRejects prepares a file of rejected rows. It refuses to replace the imported file, and any
// other unless force is set. An existing file may stay if it holds exactly the rows rejected now,
// so that importing a file twice succeeds twice.
func NewRejects(path string, force bool, in *Input) (*Rejects, error) {
	if path == output.Standard {
		return nil, ErrRejectsOnStandardOutput
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode()&fs.ModeCharDevice == 0 && in.source.Is(info) {
		return nil, ErrRejectsIsInput
	}
	err = output.Check(path, force)
	r := &Rejects{path: path, force: force}
	if !errors.As(err, new(*output.ExistsError)) {
		return r, err
	}
	if r.same, err = os.Open(path); err != nil {
		return nil, &RejectsExistError{path}
	}
	r.lines = bufio.NewReader(r.same)
	return r, nil
}

// rehearsal returns a copy for a rehearsal, which writes no file.
func (r *Rejects) rehearsal() *Rejects {
	again := &Rejects{path: r.path, force: r.force, dry: true}
	if r.same != nil {
		if again.same, _ = os.Open(r.path); again.same == nil {
			return again // the import will report it
		}
		again.lines = bufio.NewReader(again.same)
	}
	return again
}

// PrintRejects prints the first rejected rows, with line and reason, and stores none.
func PrintRejects(said io.Writer) *Rejects { return &Rejects{said: said} }

// add writes rows as tab-separated cells: line, reason and the row itself. When it returns, the
// rows survive a crash of this process.
func (r *Rejects) add(ctx context.Context, rows []*reviewfile.RowError) error {
	if len(rows) == 0 {
		return nil
	}
	if r.said == nil {
		if err := r.write(ctx, rows); err != nil {
			return err
		}
	} else {
		for _, row := range rows[:min(len(rows), maxPrinted-r.printed)] {
			r.printed++
			line := fmt.Sprintf("line %d: %s", row.Line, output.Printable(row.Reason))
			if _, err := fmt.Fprintln(r.said, output.ScreenOf(r.said).Fold(line)); err != nil {
				return err
			}
		}
	}
	r.count += len(rows)
	return nil
}

func (r *Rejects) write(ctx context.Context, rows []*reviewfile.RowError) error {
	if r.same == nil && !r.dry && r.file == nil {
		file, err := output.Open(ctx, r.path, r.force, nil)
		if err != nil {
			return r.failed(err)
		}
		r.file, r.out = file, bufio.NewWriter(file)
	}
	for _, row := range rows {
		line := fmt.Sprintf("%d\t%s\t%s\n", row.Line, cell(row.Reason), cell(row.Raw))
		switch {
		case r.same != nil:
			old := make([]byte, len(line))
			if _, err := io.ReadFull(r.lines, old); err != nil || string(old) != line {
				return &RejectsExistError{r.path}
			}
		case !r.dry:
			if _, err := r.out.WriteString(line); err != nil {
				return r.failed(err)
			}
		}
	}
	if r.file == nil {
		return nil
	}
	if err := r.out.Flush(); err != nil {
		return r.failed(err)
	}
	return nil
}

// close gives the file its final name, even after an import that was stopped: the rejected rows
// show why, or what to fix.
func (r *Rejects) close() error {
	if r.same != nil {
		_, err := r.lines.Peek(1)
		_ = r.same.Close() // it was only read
		if r.same = nil; r.count > 0 && err == nil {
			return &RejectsExistError{r.path} // it holds more rows
		}
		return nil
	}
	if r.file == nil {
		return nil
	}
	if r.count == 0 { // none could be written: an empty file would be in the way next time
		dropped := r.file.Drop()
		r.file = nil
		return dropped
	}
	err := r.file.Keep(context.Background())
	if err == nil {
		return nil
	}
	err = r.failed(err)
	if part := r.file.Part(); part != "" {
		r.path = part // where the rows are
	}
	return err
}

// again returns the flags to add to run the import again.
func (r *Rejects) again() string {
	if r.force || r.file == nil || r.file.Part() == "" {
		return ""
	}
	return " with --force, which writes the rejected rows anew"
}

func (r *Rejects) failed(err error) error {
	if unwritten, ok := errors.AsType[*output.Error](err); ok {
		err = unwritten.Cause()
	}
	return fmt.Errorf("the rejected rows cannot be written to %s (%w): name another file by --rejects", output.Printable(r.path), err)
}
