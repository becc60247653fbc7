package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// leastRoom is how much room the disk of a data folder has at least, in bytes. With less, SQLite may
// fail in ways that do not say why.
const leastRoom = 256 << 10

// unusable says that a data folder cannot be written, and what to do.
func unusable(folder string, err error) error {
	cure := "make it writable"
	if full(folder, err) {
		cure = "make room on its disk"
	}
	return fmt.Errorf("cannot use %s as the data folder: %w; %s, or use another folder (--data)", folder, err, cure)
}

// withCure makes an error unusable if the cause is the folder, or its disk.
func withCure(folder string, err error) error {
	if full(folder, err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return unusable(folder, err)
	}
	return err
}

// full reports whether the disk of a folder has no room, which explains an error.
func full(folder string, err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	var disk syscall.Statfs_t
	return syscall.Statfs(folder, &disk) == nil && uint64(disk.Bavail)*uint64(disk.Bsize) < leastRoom
}
