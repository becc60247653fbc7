package output

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

	"github.com/talkback/talkback/internal/task"
)

// Standard is the file name that means standard output.
const Standard = "-"

// File is a file under construction. It is written next to its destination, under a name that ends
// in .part, and Keep renames it. Standard output, and anything that is not a regular file, such as
// a named pipe, is written directly. A new file can be read by its owner only. One that replaces
// another gets that file's permissions.
type File struct {
	name  string // for messages
	path  string // the destination
	force bool
	to    io.Writer
	part  *os.File // the file to rename; nil if it is written directly
	close func() error

	mu   sync.Mutex // Keep of an abandoned writer may meet Drop
	done bool
}

// Open opens a file for writing. It refuses to replace an existing file unless force is set.
// Opening a named pipe waits for its reader; if the context ends first, Open returns the context's
// error.
func Open(ctx context.Context, name string, force bool, stdout io.Writer) (*File, error) {
	return task.Await(ctx, func() (*File, error) {
		if name == Standard {
			return &File{name: "standard output", to: stdout, close: func() error { return nil }}, nil
		}
		path, special, err := destination(name, force)
		if err != nil {
			return nil, err
		}
		if special {
			file, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY, 0)
			if err != nil {
				return nil, &Error{name, err}
			}
			return &File{name: Printable(name), to: file, close: file.Close}, nil
		}
		part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // readable by its owner only
		if err != nil {
			return nil, &Error{name, err}
		}
		return &File{name: Printable(name), path: path, force: force, to: part, part: part, close: part.Close}, nil
	})
}

// Check returns the error that Open would return now, except for those of creating the file.
func Check(name string, force bool) error {
	_, _, err := destination(name, force)
	return err
}

// destination returns the path that a file name leads to: it follows symbolic links. special
// reports that the path is something other than a regular file.
func destination(name string, force bool) (path string, special bool, err error) {
	path = name
	if target, err := filepath.EvalSymlinks(name); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && !force {
		info, err = os.Lstat(path) // finds a dangling link
		missing = errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case missing:
		return path, false, nil
	case err != nil:
		return path, false, &Error{name, err}
	case info.IsDir():
		return path, false, fmt.Errorf("%s is a folder: give the name of a file", Printable(name))
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return path, true, nil
	case !force:
		return path, false, &ExistsError{name}
	}
	return path, false, nil
}

// Name returns the name of the file for messages.
func (f *File) Name() string { return f.name }

// Part returns the path of the temporary file, "" if the file is written directly.
func (f *File) Part() string {
	if f.part == nil {
		return ""
	}
	return f.part.Name()
}

// Write appends to the file. Its error is an *Error.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	if err != nil {
		return n, &Error{f.name, err}
	}
	return n, nil
}

// Keep finishes writing, moves the file to its destination, and syncs it and its folder to disk. It
// does nothing if the context has ended.
func (f *File) Keep(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil || f.done {
		return err
	}
	if err := f.finish(); err != nil {
		return &Error{f.name, err}
	}
	f.done = true
	return nil
}

func (f *File) finish() error {
	if f.part == nil {
		return f.close()
	}
	if err := errors.Join(f.part.Sync(), f.part.Close()); err != nil {
		return err
	}
	if _, err := os.Lstat(f.part.Name()); errors.Is(err, fs.ErrNotExist) {
		return errors.New("another program has removed its part meanwhile")
	}
	before, err := os.Lstat(f.path)
	if err == nil && !f.force {
		return errors.New("another program has created it meanwhile")
	}
	if err == nil && before.Mode().IsRegular() { // who may read it is its owner's choice
		if err := os.Chmod(f.part.Name(), before.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := os.Rename(f.part.Name(), f.path); err != nil {
		return err
	}
	// A crash could undo the renaming until the folder is synced, too. Where folders cannot be synced,
	// as on Windows, there is nothing else to do.
	if folder, err := os.Open(filepath.Dir(f.path)); err == nil {
		_ = errors.Join(folder.Sync(), folder.Close())
	}
	return nil
}

// Drop deletes the temporary file, unless the file was kept. It cannot undo direct writes.
func (f *File) Drop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return nil
	}
	f.done = true
	if f.part == nil {
		return nil
	}
	_ = f.part.Close() // closed already, or about to be deleted
	if err := os.Remove(f.part.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remains describes what a failed writer leaves behind.
func (f *File) Remains() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.done:
		return f.name + " was written in full just before"
	case f.part == nil:
		return "the output is incomplete"
	}
	return f.name + " was not written"
}

// ExistsError is the refusal to replace an existing file.
type ExistsError struct{ name string }

// Error names the file and the cure.
func (e *ExistsError) Error() string {
	return Printable(e.name) + " exists: give another name, or --force to overwrite it"
}

// Error is the failure to write a file.
type Error struct {
	name string
	err  error
}

// Unwritten returns the failure to write a file of a name.
func Unwritten(name string, err error) *Error { return &Error{name, err} }

// Error names the file, the cause and the cure.
func (e *Error) Error() string {
	name := Printable(e.name)
	switch cause := e.Cause(); {
	case errors.Is(e.err, syscall.EPIPE), errors.Is(e.err, io.ErrClosedPipe):
		return fmt.Sprintf("the reader of %s closed it: the output is incomplete", name)
	case errors.Is(e.err, syscall.ENOSPC):
		return fmt.Sprintf("%s cannot be written (%v): make room, or name a file on another disk", name, cause)
	case errors.Is(e.err, fs.ErrNotExist):
		return fmt.Sprintf("%s cannot be written (%v): make its folder, or name another file", name, cause)
	default:
		return fmt.Sprintf("%s cannot be written (%v): name another file", name, cause)
	}
}

// Cause returns the cause without the operation and its paths.
func (e *Error) Cause() error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(e.err, &path):
		return path.Err
	case errors.As(e.err, &link):
		return link.Err
	}
	return e.err
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.err }
