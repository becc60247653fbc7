package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/pagefile"
)

// What is in the folder.
const (
	lockFile    = "talkback-pages.lock" // tells that the folder is ours
	rootFile    = "root"
	chunkFolder = "chunks"
	logFolder   = "logs"
	buildFolder = "build"
	// private is the permission of files and, with the right to enter them, of folders.
	private       = 0o600
	privateFolder = 0o700
)

// folder is where the files are. Writes survive a crash of the machine once a method has returned.
type folder string

func (f folder) path(names ...string) string {
	return filepath.Join(append([]string{string(f)}, names...)...)
}

// check refuses a folder that holds other files, none of which may be lost.
func (f folder) check() error {
	entries, err := os.ReadDir(f.path())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.path(lockFile)); errors.Is(err, fs.ErrNotExist) {
		return comment.Errorf(comment.BadInput, "the folder %s holds other files than those of page numbers: give one that is empty or new", f)
	}
	return nil
}

// prepare makes the folders that are missing.
func (f folder) prepare() error {
	for _, name := range []string{chunkFolder, logFolder} {
		if err := os.MkdirAll(f.path(name), privateFolder); err != nil {
			return err
		}
	}
	return syncFolder(f.path())
}

// Read implements chunks.Reader.
func (f folder) Read(ctx context.Context, name string, offset, length int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if length < 0 {
		return os.ReadFile(f.path(chunkFolder, name))
	}
	file, err := os.Open(f.path(chunkFolder, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	data := make([]byte, length)
	n, err := file.ReadAt(data, int64(offset))
	if errors.Is(err, io.EOF) {
		err = nil // what is missing does not match its checksum
	}
	return data[:n], err
}

// Write implements chunks.Writer.
func (f folder) Write(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return writeFile(f.path(chunkFolder, name), data)
}

// writeFile writes a file that is not there yet.
func writeFile(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncFolder makes the names in a folder survive a crash.
func syncFolder(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// root reads the root, an empty one if there is none. The info tells it from a later one.
func (f folder) root() (*pagefile.Root, os.FileInfo, error) {
	data, err := os.ReadFile(f.path(rootFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &pagefile.Root{}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(f.path(rootFile))
	if err != nil {
		return nil, nil, err
	}
	root, err := pagefile.DecodeRoot(data)
	return root, info, err
}

// setRoot replaces the root, whose chunks are written.
func (f folder) setRoot(root *pagefile.Root) (os.FileInfo, error) {
	if err := syncFolder(f.path(chunkFolder)); err != nil {
		return nil, err
	}
	beside := f.path(rootFile + ".new")
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := writeFile(beside, pagefile.EncodeRoot(root)); err != nil {
		return nil, err
	}
	if err := os.Rename(beside, f.path(rootFile)); err != nil {
		return nil, err
	}
	if err := syncFolder(f.path()); err != nil {
		return nil, err
	}
	return os.Stat(f.path(rootFile))
}

func logName(number uint64) string { return fmt.Sprintf("%020d.log", number) }

// logs returns the numbers of the logs, sorted.
func (f folder) logs() ([]uint64, error) {
	entries, err := os.ReadDir(f.path(logFolder))
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, entry := range entries {
		name, isLog := strings.CutSuffix(entry.Name(), ".log")
		if number, err := strconv.ParseUint(name, 10, 64); err == nil && isLog {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out, nil
}

// readLog returns the items of a log, and how many of its bytes they take. What comes behind these
// was torn off.
func (f folder) readLog(number uint64) (items []pagefile.Item, length int64, err error) {
	data, err := os.ReadFile(f.path(logFolder, logName(number)))
	if err != nil {
		return nil, 0, err
	}
	rest := data
	for len(rest) > 0 {
		more, behind, torn, err := pagefile.ReadFrame(rest)
		if err != nil {
			return nil, 0, fmt.Errorf("log %d: %w", number, err)
		}
		if torn {
			break
		}
		items, rest = append(items, more...), behind
	}
	return items, int64(len(data) - len(rest)), nil
}

// removeLogs deletes the logs up to a number.
func (f folder) removeLogs(through uint64) error {
	numbers, err := f.logs()
	for _, number := range numbers {
		if number <= through {
			err = errors.Join(err, os.Remove(f.path(logFolder, logName(number))))
		}
	}
	return err
}

// removeChunks deletes the files of chunks that a root does not name.
func (f folder) removeChunks(root *pagefile.Root) error {
	named := map[string]bool{}
	for i := range root.Chunks {
		for _, kind := range []pagefile.Kind{pagefile.Records, pagefile.Guards} {
			if root.Chunks[i].Part(kind).Count > 0 {
				named[root.Chunks[i].FileName(kind)] = true
			}
		}
	}
	entries, err := os.ReadDir(f.path(chunkFolder))
	for _, entry := range entries {
		if !named[entry.Name()] {
			err = errors.Join(err, os.Remove(f.path(chunkFolder, entry.Name())))
		}
	}
	return err
}
