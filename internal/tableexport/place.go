package tableexport

import (
	"context"
	"io"
)

// place is where the files of an export are. Names are relative to it, with slashes.
type place interface {
	// open opens a file from a byte on. It returns an error that is fs.ErrNotExist if there is none.
	open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
	// folders returns the names of the folders in a folder.
	folders(ctx context.Context, folder string) ([]string, error)
	// String returns the address, as the user gave it.
	String() string
}

// join returns the address of a folder at a place.
func join(at place, dir string) string {
	if dir == "" {
		return at.String()
	}
	return at.String() + "/" + dir
}
