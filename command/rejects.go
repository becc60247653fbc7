package command

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/talkback/talkback/reviewfile"
)

// rejects writes the rows that cannot be imported to a file of their own, which exists only if there are any. It is the
// one place where the text of a review is written beside a reason: the file is its owner's, as the one it came from.
type rejects struct {
	path   string
	count  int
	teller *rejectTeller // told in place of a file, nil for none
	file   *os.File
	out    *bufio.Writer
}

// newRejects refuses to write over the file that is imported.
func newRejects(path, imported string) (*rejects, error) {
	if a, err := filepath.Abs(imported); err == nil {
		if b, err := filepath.Abs(path); err == nil && a == b {
			return nil, fmt.Errorf("--rejects names the file to import itself: name another")
		}
	}
	return &rejects{path: path}, nil
}

// add writes rows: line, reason and the row as it was, with its line breaks as \n, between tabs. They are in the file when
// it returns.
func (r *rejects) add(rows []*reviewfile.RowError) error {
	if len(rows) == 0 {
		return nil
	}
	if r.teller != nil {
		r.count += len(rows)
		return r.teller.tell(rows)
	}
	if err := r.open(); err != nil {
		return err
	}
	for _, row := range rows {
		raw := strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(row.Raw)
		if _, err := fmt.Fprintf(r.out, "%d\t%s\t%s\n", row.Line, row.Reason, raw); err != nil {
			return r.failed(err)
		}
	}
	if err := r.out.Flush(); err != nil {
		return r.failed(err)
	}
	r.count += len(rows)
	return nil
}

func (r *rejects) open() error {
	if r.file != nil {
		return nil
	}
	file, err := os.Create(r.path)
	if err != nil {
		return r.failed(err)
	}
	r.file, r.out = file, bufio.NewWriter(file)
	return nil
}

func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Close(); err != nil {
		return r.failed(err)
	}
	return nil
}

func (r *rejects) failed(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("the rejected rows cannot be written to %s (%w): name another file by --rejects", r.path, err)
}
