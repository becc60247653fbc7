package engine

import (
	"os"
	"path/filepath"
	"strings"
)

// owned are the files that an engine may have in its data folder.
var owned = []string{
	databaseFile, databaseFile + "-wal", databaseFile + "-shm", databaseFile + "-journal", logFile, lockFile, recordFile, recordFile + ".new",
}

// Owns reports whether a path leads to a file that an engine has in a data folder, or would have:
// by its name, in any case, or by links of both kinds.
func Owns(folder, path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	inside := same(folder, filepath.Dir(path))
	for _, name := range owned {
		if inside && strings.EqualFold(name, filepath.Base(path)) || same(filepath.Join(folder, name), path) {
			return true
		}
	}
	return false
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
