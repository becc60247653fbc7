package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxNamed bounds the folders that an error names.
const maxNamed = 5

// MissingError means that a folder holds no data of an engine.
type MissingError struct {
	// Folder is the requested folder.
	Folder string
	// Exists reports whether the folder exists.
	Exists bool
	// Others are the paths of a few data folders next to it or in it.
	Others []string
}

// Error returns one sentence that lists folders to use instead.
func (e *MissingError) Error() string {
	what := fmt.Sprintf("data folder %s does not exist", e.Folder)
	if e.Exists {
		what = fmt.Sprintf("folder %s holds no data of Talkback", e.Folder)
	}
	if len(e.Others) > 0 {
		what += fmt.Sprintf(" (existing: %s)", strings.Join(e.Others, ", "))
	}
	return what + ": name another with --data, or create one with talkback serve or talkback import"
}

// checkExists returns a *MissingError unless the folder holds an engine's data, or another process
// is about to create it.
func checkExists(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, databaseFile)); err == nil {
		return nil
	}
	e := &MissingError{Folder: folder}
	info, err := os.Stat(folder)
	e.Exists = err == nil && info.IsDir()
	for _, pattern := range []string{filepath.Join(filepath.Dir(folder), "*", databaseFile), filepath.Join(folder, "*", databaseFile)} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // the folder's name is an invalid Glob pattern
		}
		for _, file := range found[:min(len(found), maxNamed)] {
			e.Others = append(e.Others, filepath.Dir(file))
		}
	}
	return e
}
