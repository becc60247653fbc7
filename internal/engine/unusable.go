package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// unusable says that a data folder cannot be written, and what to do.
func unusable(folder string, err error) error {
	cure := "make it writable"
	if full(err) {
		cure = "make room on its disk"
	}
	return fmt.Errorf("cannot use %s as the data folder: %w; %s, or use another folder (--data)", folder, err, cure)
}

// withCure makes an error unusable if the cause is the folder, or its disk.
func withCure(folder string, err error) error {
	if full(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return unusable(folder, err)
	}
	return err
}

// full reports whether a disk has no room. The engine is another process, so its reasons are text:
// SQLite's, and the system's.
func full(err error) bool {
	if err == nil {
		return false
	}
	text := strings.ToLower(err.Error())
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(text, "disk is full") || strings.Contains(text, "no space left on device")
}
