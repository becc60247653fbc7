package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/talkback/talkback/internal/reviewfile"
)

// rejects writes the rows that cannot be imported to a file of their own, which exists only if there are any. It is the
// one place where the text of a review is written beside a reason: the file is its owner's, as the one it came from. It
// appears under its name when the import ends, in whatever way.
type rejects struct {
	path   string
	force  bool // whether a file that exists is written over
	count  int
	teller *rejectTeller // told in place of a file, nil for none
	file   *output       // nil until there is a row
	out    *bufio.Writer
}

// newRejects refuses to write over the file that is imported, whatever it is called, and over any other unless force is set.
func newRejects(path string, force bool, source *reviewfile.Source) (*rejects, error) {
	if path == standardOutput {
		return nil, usagef("--rejects names standard output, where the summary goes: name a file")
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode()&fs.ModeCharDevice == 0 && source.Is(info) {
		return nil, usagef("--rejects names the file to import itself: name another")
	}
	_, _, err = destination(path, force)
	var exists *existsError
	if errors.As(err, &exists) {
		return nil, fmt.Errorf("the rejected rows would go to %s, which exists, perhaps from an earlier import: "+
			"move it away, name another file by --rejects, or write over it by --force", printable(path))
	}
	return &rejects{path: path, force: force}, err
}

// add writes rows: line, reason and the row as it was, as cells between tabs. They are on their way to the file when it
// returns, and stay if the process is killed.
func (r *rejects) add(ctx context.Context, rows []*reviewfile.RowError) error {
	if len(rows) == 0 {
		return nil
	}
	if r.teller != nil {
		r.count += len(rows)
		return r.teller.tell(rows)
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(r.out, "%d\t%s\t%s\n", row.Line, cell(row.Reason), cell(row.Raw)); err != nil {
			return r.failed(err)
		}
	}
	if err := r.out.Flush(); err != nil {
		return r.failed(err)
	}
	r.count += len(rows)
	return nil
}

func (r *rejects) open(ctx context.Context) error {
	if r.file != nil {
		return nil
	}
	file, err := await(ctx, func() (*output, error) { return openOutput(r.path, r.force, nil) }) // a pipe waits for its reader
	if err != nil {
		return r.failed(err)
	}
	r.file, r.out = file, bufio.NewWriter(file)
	return nil
}

// close gives the file its name, also after an import that was stopped: what it rejected tells why, or what to mend.
func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.keep(context.Background())
	if err == nil {
		return nil
	}
	err = r.failed(err)
	if r.file.part != nil {
		r.path = r.file.part.Name() // where the rows are
	}
	return err
}

// again is what running the import again takes now, beside the same command line.
func (r *rejects) again() string {
	if r.force || r.file == nil || r.file.part == nil {
		return ""
	}
	return " with --force, which writes the rejected rows anew"
}

func (r *rejects) failed(err error) error {
	var unwritten *outputError
	if errors.As(err, &unwritten) {
		err = innermost(unwritten)
	}
	return fmt.Errorf("the rejected rows cannot be written to %s (%w): name another file by --rejects", printable(r.path), err)
}
