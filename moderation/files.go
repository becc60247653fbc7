package moderation

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// readFile reads a file of a bounded length. It leaves out the byte order mark that some editors
// write.
func readFile(path string, most int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("%s has more than %d bytes, which is all that is read: make it shorter", path, most)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
