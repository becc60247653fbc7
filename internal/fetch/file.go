package fetch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File reads a file of at most n bytes. It may be a pipe: File waits for as long as that delivers
// nothing. An error names the file and the cure.
func File(path string, n int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, int64(n)+1))
	switch {
	case err != nil:
		return nil, Unreadable(path, err)
	case len(content) > n:
		return nil, fmt.Errorf("%s has more than %d bytes, which is all that is read: make it shorter", path, n)
	}
	return content, nil
}

// Unreadable returns the error of a file that cannot be read, with the cure.
func Unreadable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s cannot be read (%w): give the path of a file that this user may read", name, err)
}
