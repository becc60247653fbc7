package restore

import (
	"context"
	"io"
)

// place is the location of an export's files. Names are relative to it, with slashes.
type place interface {
	// open opens a file at a byte offset. The error is an fs.ErrNotExist if there is no such file.
	open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
	// folders returns the names of the folders in a folder.
	folders(ctx context.Context, folder string) ([]string, error)
	// String returns the address in the form that the user gave.
	String() string
}

// join returns the address of a folder at a place.
func join(at place, dir string) string {
	if dir == "" {
		return at.String()
	}
	return at.String() + "/" + dir
}
