package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// standardOutput is the name that stands for standard output.
const standardOutput = "-"

// output is a file that is there in full or not at all: it is written beside its place, under a name that ends in .part,
// and moved there at the end. Standard output, and what is no plain file, such as a named pipe, is written as it comes.
type output struct {
	name  string // for people
	path  string // where the file goes at the end
	force bool
	to    io.Writer
	part  *os.File // what is moved at the end, nil if nothing is
	close func() error

	mu   sync.Mutex // an abandoned writer may come late
	done bool
}

// openOutput opens a file for writing. One that exists is refused unless force is set.
func openOutput(name string, force bool, stdout io.Writer) (*output, error) {
	if name == standardOutput {
		return &output{name: "standard output", to: stdout, close: func() error { return nil }}, nil
	}
	path, special, err := destination(name, force)
	if err != nil {
		return nil, err
	}
	if special {
		return openSpecial(name)
	}
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // which nobody else can read
	if err != nil {
		return nil, &outputError{name, err}
	}
	return &output{name: printable(name), path: path, force: force, to: part, part: part, close: part.Close}, nil
}

// destination is where a file goes that is written under a name, which may be a link: the link stays one. It tells whether
// what is there is no plain file. A plain one is refused unless force is set.
func destination(name string, force bool) (path string, special bool, err error) {
	path = name
	if target, err := filepath.EvalSymlinks(name); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && !force {
		info, err = os.Lstat(path) // a link to nothing is something
		missing = errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case missing:
		return path, false, nil
	case err != nil:
		return path, false, &outputError{name, err}
	case info.IsDir():
		return path, false, fmt.Errorf("%s is a folder: give the name of a file", printable(name))
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return path, true, nil
	case !force:
		return path, false, &existsError{name}
	}
	return path, false, nil
}

// existsError is a file that is not written over without being told to.
type existsError struct{ name string }

// Error says what to do.
func (e *existsError) Error() string {
	return printable(e.name) + " exists: give another name, or --force to write over it"
}

func openSpecial(name string) (*output, error) {
	file, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY, 0)
	if err != nil {
		return nil, &outputError{name, err}
	}
	return &output{name: printable(name), to: file, close: file.Close}, nil
}

// Write writes on.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		return n, &outputError{o.name, err}
	}
	return n, nil
}

// keep ends the writing: now the file is there, and stays whatever happens to the machine. It does nothing once the
// context has ended.
func (o *output) keep(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil || o.done {
		return err
	}
	if err := o.finish(); err != nil {
		return &outputError{o.name, err}
	}
	o.done = true
	return nil
}

func (o *output) finish() error {
	if o.part == nil {
		return o.close()
	}
	if err := errors.Join(o.part.Sync(), o.part.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(o.path); err == nil && !o.force {
		return errors.New("another program has made it meanwhile")
	}
	return os.Rename(o.part.Name(), o.path)
}

// drop takes away what was written unless it was kept.
func (o *output) drop() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	o.done = true
	if o.part == nil {
		return nil // whoever reads it has it already
	}
	_ = o.part.Close() // closed already, or thrown away
	return os.Remove(o.part.Name())
}

// remains says what an export that failed leaves behind.
func (o *output) remains() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.done:
		return o.name + " was written in full just before"
	case o.part == nil:
		return "what was written is not all"
	}
	return o.name + " was not written"
}

// outputError is a file that cannot be written.
type outputError struct {
	name string
	err  error
}

// Error says why, and what to do.
func (e *outputError) Error() string {
	name := printable(e.name)
	switch err := innermost(e.err); {
	case errors.Is(e.err, syscall.EPIPE), errors.Is(e.err, io.ErrClosedPipe):
		return fmt.Sprintf("nobody reads %s any more: what was written is not all", name)
	case errors.Is(e.err, syscall.ENOSPC):
		return fmt.Sprintf("%s cannot be written (%v): make room, or name a file on another disk", name, err)
	default:
		return fmt.Sprintf("%s cannot be written (%v): name another file", name, err)
	}
}

// Unwrap gives the error underneath.
func (e *outputError) Unwrap() error { return e.err }
