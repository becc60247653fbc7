package engine

// This file coordinates processes that use the same data folder. The process that runs an engine
// there holds a lock while it lives. The kernel releases the lock of a killed process, so there is
// never a stale lock to remove. A record next to the lock says which process holds it and where its
// engine listens. The record is valid only while the lock is held, so one left behind does no harm.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/talkback/talkback/internal/task"
)

// The files of a data folder. SQLite has two more next to the database file.
const (
	databaseFile = "talkback.db"
	logFile      = "engine.log"
	lockFile     = "engine.lock"
	recordFile   = "engine.json"
)

// privateFile is the mode of all files in a data folder. They contain comments, and the address of
// the engine, which serves every client that knows it.
const privateFile = 0o600

const (
	// lockPatience is how long Start tries to get the lock, which Shared holds for an instant.
	lockPatience = time.Second
	// sharedPatience is how long Shared waits for an engine that is starting.
	sharedPatience = 30 * time.Second
	// pollEvery is the pause between two attempts to lock, or to read a record.
	pollEvery = 20 * time.Millisecond
)

// record is the information for other processes about the folder's holder.
type record struct {
	Owner    string `json:"owner"`              // such as "talkback serve"
	PID      int    `json:"pid"`                // 0 if it is not written yet
	Endpoint string `json:"endpoint,omitempty"` // empty while the engine starts
	Shared   bool   `json:"shared"`
}

// inUse returns the error that another process runs an engine on the folder, with the process and
// the cure.
func inUse(folder string, r record) error {
	who := "another process that is just starting"
	if r.PID != 0 {
		who = fmt.Sprintf("%s (pid %d)", r.Owner, r.PID)
	}
	if r.PID != 0 && !r.Shared {
		who += ", which does not share its engine"
	}
	return fmt.Errorf("the data folder %s is in use by %s: stop that process, run this again if it is just ending, or use another folder (--data)", folder, who)
}

// claim is the lock on a data folder.
type claim struct {
	folder string
	lock   *flock.Flock
	record record
}

// claimFolder creates the folder if necessary and locks it. The error names who has it instead.
func claimFolder(ctx context.Context, o Options) (*claim, error) {
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, unusable(o.Folder, err)
	}
	if err := refuseOthers(o.Folder); err != nil {
		return nil, err
	}
	c := &claim{
		folder: o.Folder,
		lock:   flock.New(filepath.Join(o.Folder, lockFile)),
		record: record{Owner: o.Owner, PID: os.Getpid(), Shared: o.Shared},
	}
	patience, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	taken, err := c.lock.TryLockContext(patience, pollEvery)
	switch {
	case taken:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, inUse(o.Folder, readRecord(o.Folder))
	default:
		return nil, unusable(o.Folder, err)
	}
	if err := c.announce(""); err != nil {
		return nil, errors.Join(err, c.lock.Close()) // a record there is not ours, and is void
	}
	return c, nil
}

// refuseOthers refuses a folder where another program has a file that an engine would change. An
// engine leaves its lock there.
func refuseOthers(folder string) error {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	}
	for _, name := range []string{recordFile, logFile} {
		if has(name) && !has(databaseFile) && !has(lockFile) {
			return fmt.Errorf("%s is of another program: use another folder (--data)", filepath.Join(folder, name))
		}
	}
	return nil
}

// keepPrivate creates the database file before SQLite does, which would make it readable by all
// users. SQLite's other files get the mode of this one. It also makes files of earlier versions
// private. It does not change the mode of an existing folder: that is its owner's choice.
func keepPrivate(folder string) error {
	path := filepath.Join(folder, databaseFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, privateFile)
	if err != nil {
		return unusable(folder, err)
	}
	if err := file.Close(); err != nil {
		return unusable(folder, err)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		err := os.Chmod(file, privateFile)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return unusable(folder, err)
		}
	}
	return nil
}

// announce writes the record under another name and renames it: no process reads a partial one.
func (c *claim) announce(endpoint string) error {
	c.record.Endpoint = endpoint
	text, err := json.Marshal(c.record)
	if err != nil {
		return err
	}
	path := filepath.Join(c.folder, recordFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), privateFile); err != nil {
		_ = os.Remove(path + ".new") // it may exist without content
		return unusable(c.folder, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return unusable(c.folder, err)
	}
	return nil
}

// release removes the record and then the lock. The order matters: without the lock, both may
// belong to another process.
func (c *claim) release() error {
	err := os.Remove(filepath.Join(c.folder, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, c.lock.Close())
}

// readRecord returns the folder's record, or an empty one if it cannot be read.
func readRecord(folder string) record {
	var r record
	text, err := os.ReadFile(filepath.Join(folder, recordFile))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

// Shared returns the endpoint of the engine that another process runs on the folder and shares. It
// waits for an engine that is starting. If no process runs an engine, found is false. If one does
// but does not share it, the error names the process.
func Shared(ctx context.Context, folder string) (endpoint string, found bool, err error) {
	path := filepath.Join(folder, lockFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", false, nil // never used: leave no files in it
	}
	ctx, cancel := context.WithTimeout(ctx, sharedPatience)
	defer cancel()
	for {
		lock := flock.New(path) // a shared lock, held for an instant
		free, err := lock.TryRLock()
		if err = errors.Join(err, lock.Close()); err != nil {
			return "", false, unusable(folder, err)
		}
		if free {
			return "", false, nil
		}
		r := readRecord(folder)
		if r.Shared && r.Endpoint != "" {
			return r.Endpoint, true, nil
		}
		if r.PID != 0 && !r.Shared {
			return "", false, inUse(folder, r)
		}
		switch err := task.Wait(ctx, pollEvery); {
		case errors.Is(err, context.Canceled):
			return "", false, err
		case err != nil:
			return "", false, inUse(folder, r)
		}
	}
}

// leastRoom is the minimum free space on the disk of a data folder, in bytes. With less, SQLite may
// fail with misleading errors.
const leastRoom = 256 << 10

// unusable returns the error that a data folder cannot be written, with the cure.
func unusable(folder string, err error) error {
	cure := ""
	switch {
	case full(folder, err):
		cure = "make room on its disk, or "
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		cure = "make it writable, or "
	}
	return fmt.Errorf("cannot use %s as the data folder: %w; %suse another folder (--data)", folder, err, cure)
}

// withCure wraps an error with unusable if the folder or its disk is the cause.
func withCure(folder string, err error) error {
	if full(folder, err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return unusable(folder, err)
	}
	return err
}

// full reports whether an error is due to a full disk of a folder.
func full(folder string, err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	free, unknown := FreeSpace(folder)
	return unknown == nil && free < leastRoom
}

var engineFiles = []string{
	databaseFile, databaseFile + "-wal", databaseFile + "-shm", databaseFile + "-journal", logFile, lockFile, recordFile, recordFile + ".new",
}

// Owns reports whether a path leads to a file of an engine in a data folder, existing or not. It
// compares names regardless of case, and follows hard and symbolic links.
func Owns(folder, path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	inside := same(folder, filepath.Dir(path))
	return slices.ContainsFunc(engineFiles, func(name string) bool {
		return inside && strings.EqualFold(name, filepath.Base(path)) || same(filepath.Join(folder, name), path)
	})
}

// same reports whether two paths lead to the same existing file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

const maxNamed = 5

// checkExists returns an error unless the folder holds an engine's data. It lists a few data
// folders next to it or in it.
func checkExists(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, databaseFile)); err == nil {
		return nil
	}
	var others []string
	for _, pattern := range []string{filepath.Join(filepath.Dir(folder), "*", databaseFile), filepath.Join(folder, "*", databaseFile)} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // the folder's name is an invalid Glob pattern
		}
		for _, file := range found[:min(len(found), maxNamed)] {
			others = append(others, filepath.Dir(file))
		}
	}
	what := fmt.Sprintf("data folder %s does not exist", folder)
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		what = fmt.Sprintf("folder %s holds no data of Talkback", folder)
	}
	if len(others) > 0 {
		what += fmt.Sprintf(" (existing: %s)", strings.Join(others, ", "))
	}
	return errors.New(what + ": name another with --data, or create one with talkback serve or talkback import")
}
