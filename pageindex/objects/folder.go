package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

const (
	// lockFile is locked by the process that uses the folder, and marks the folder as ours.
	lockFile = "talkback-pages.lock"
	// scratchFolder holds files that are being written.
	scratchFolder = "scratch"
	// private is the mode of folders. Files get the mode of os.CreateTemp.
	private = 0o700
)

// folder is the storage in a folder of this machine, which one process uses at a time. An object is
// a file that is synced to disk, and then renamed to its place.
type folder struct {
	root string

	mu     sync.Mutex // held while a file is put in its place
	lock   *flock.Flock
	held   os.FileInfo // of the lock file
	closed bool
}

func (f *folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// claim takes the lock, unless this process still has it: the folder may have been emptied or
// replaced. It creates the folder if it is missing. The error is of the kind Unavailable if another
// process uses it, and BadInput if it holds other files. The caller holds mu, or is the only user
// of f.
func (f *folder) claim() error {
	if f.closed {
		return fs.ErrClosed
	}
	now, err := os.Stat(f.path(lockFile))
	if err == nil && f.held != nil && os.SameFile(now, f.held) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.refuseOthers(); err != nil {
			return err
		}
	}
	if f.lock != nil {
		if err := f.lock.Unlock(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(f.root, private); err != nil {
		return err
	}
	f.lock = flock.New(f.path(lockFile), flock.SetPermissions(0o600))
	taken, err := f.lock.TryLock()
	if err == nil && !taken {
		err = &comment.Error{Kind: comment.Unavailable, Message: fmt.Sprintf("cannot open the page index files:%s", f.root), Cause: pageindex.ErrInUse}
	}
	if err != nil {
		return err
	}
	if f.held, err = os.Stat(f.path(lockFile)); err != nil {
		return err
	}
	if err := os.RemoveAll(f.path(scratchFolder)); err != nil {
		return err
	}
	for _, name := range []string{scratchFolder, chunkFolder, logFolder} {
		if err := os.MkdirAll(f.path(name), private); err != nil {
			return err
		}
	}
	return syncFolder(f.root)
}

// refuseOthers refuses a folder that holds other files, so that none of them is lost.
func (f *folder) refuseOthers() error {
	entries, err := os.ReadDir(f.root)
	if len(entries) > 0 {
		return comment.Errorf(comment.BadInput, "the folder %s holds other files than those of page numbers: give one that is empty or new", f.root)
	}
	return failure(missing(err))
}

func (f *folder) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	return errors.Join(os.RemoveAll(f.path(scratchFolder)), f.lock.Unlock())
}

// tagOf returns the tag of a file. place gives each file its own modification time.
func tagOf(info os.FileInfo) string {
	return fmt.Sprintf("%d-%d", info.ModTime().UnixNano(), info.Size())
}

func (f *folder) get(ctx context.Context, name, unless string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	if unless != "" { // most reads end here
		if info, err := os.Stat(f.path(name)); err == nil && tagOf(info) == unless {
			return object{}, errUnchanged
		}
	}
	file, err := os.Open(f.path(name))
	if err != nil {
		return object{}, missing(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return object{}, err
	}
	data, err := io.ReadAll(io.LimitReader(file, mostBytes))
	return object{data, tagOf(info)}, err
}

// missing turns the error of a missing file into errMissing.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	return err
}

func (f *folder) getRange(ctx context.Context, name string, offset, length int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, missing(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data := make([]byte, length)
	n, err := file.ReadAt(data, int64(offset))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

func (f *folder) put(ctx context.Context, name string, data []byte, was string) (tag string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f.mu.Lock()
	err = f.claim()
	f.mu.Unlock()
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(f.path(scratchFolder), "")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		tag, err = f.place(file.Name(), f.path(name), was)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the first error matters, and the next start removes the file
	}
	return tag, err
}

// place renames a file to its place, on condition that the existing file has the tag was, or is
// missing if was is empty.
func (f *folder) place(from, to, was string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there, err := os.Stat(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if (err == nil) != (was != "") || err == nil && tagOf(there) != was {
		return "", errTaken
	}
	now := time.Now() // the file system's own clock may stand still between two files
	if err := os.Chtimes(from, now, now); err != nil {
		return "", err
	}
	if err := os.Rename(from, to); err != nil {
		return "", err
	}
	if err := syncFolder(filepath.Dir(to)); err != nil {
		return "", err
	}
	info, err := os.Stat(to)
	if err != nil {
		return "", err
	}
	return tagOf(info), nil
}

// syncFolder syncs a folder to disk, so that renames in it survive a crash.
func syncFolder(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (f *folder) list(_ context.Context, name string) (out []listed, err error) {
	entries, err := os.ReadDir(f.path(name))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // it was deleted meanwhile
		}
		out = append(out, listed{name + entry.Name(), time.Since(info.ModTime())})
	}
	return out, failure(missing(err))
}

func (f *folder) remove(_ context.Context, name string) error {
	return failure(missing(os.Remove(f.path(name))))
}
