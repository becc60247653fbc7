package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talkback/talkback/internal/output"
)

// folder is a folder of this machine.
type folder string

// String implements place.
func (f folder) String() string { return output.Printable(string(f)) }

func (f folder) open(_ context.Context, name string, from int64) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return nil, f.reason(name, err)
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(f.reason(name, err), file.Close())
	}
	return file, nil
}

func (f folder) folders(_ context.Context, dir string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// reason returns the error of reading a file. It keeps fs.ErrNotExist, which callers check for.
func (f folder) reason(name string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s in %s cannot be read: %w", name, f, err)
}
